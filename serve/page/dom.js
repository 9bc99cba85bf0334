/* Elements. Nothing here reads markup: texts are texts. */

function byId(id) {
    return document.getElementById(id);
}

function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);

    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function')
            made.addEventListener(name, value);
        else if (value === true)
            made.setAttribute(name, '');
        else if (value !== false && value !== undefined)
            made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

function drawing(tag, attributes = {}, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);

    for (const [name, value] of Object.entries(attributes))
        made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/* A button that says what it does. */
function button(label, does, attributes = {}) {
    return element('button', {type: 'button', click: does, ...attributes}, label);
}

/* A bar that fills a share of its place. */
function shareBar(share, kind = '') {
    const fill = element('i');

    fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
    return element('span', {class: `bar ${kind}`, 'aria-hidden': 'true'}, fill);
}

let noticeTimer;

/* Says something for a moment, also to those who do not see it. */
function notice(text) {
    const place = byId('notice');

    clearTimeout(noticeTimer);
    place.textContent = text;
    place.classList.add('shown');
    noticeTimer = setTimeout(() => place.classList.remove('shown'), 4000);
}

async function copyText(text, what) {
    try {
        await navigator.clipboard.writeText(text);
        notice(`Copied ${what}.`);
    } catch {
        const box = byId('copied');

        byId('copied-text').value = text;
        box.showModal();
        byId('copied-text').select();
    }
}

/* A failure with what one can do about it. */
function failureBox(failure, again) {
    const box = element('div', {class: 'failure', role: 'alert'},
        appendText(element('p'), failure.message));

    if (failure.status === 504)
        box.append(element('p', {class: 'soft'}, 'It took longer than it was given.'));
    if (again !== undefined)
        box.append(button('Try again', again));
    return box;
}

/* A scalar, cut, with a class for its type. */
function scalar(value, max, keepsLines = false) {
    const type = typeOf(value);
    const place = element('bdi', {class: `value ${type}`});

    if (isContainer(value))
        return appendText(place, cut(compact(value, max), max));
    if (type !== 'string') {
        place.append(value instanceof Numeral ? value.text : String(value));
        return place;
    }
    appendText(place, cut(value, max), keepsLines);
    if (value === '')
        place.append(element('span', {class: 'code'}, 'empty'));
    return place;
}
