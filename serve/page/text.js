/* Texts: what the page shows of bytes that it did not choose, numbers for
 * people, and quotes for the server and for shells. */

/* Characters that are not seen, or that change how others are seen. */
const hidden =
    /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

function nameOf(character) {
    const short = {'\n': '\\n', '\t': '\\t', '\r': '\\r', '\0': '\\0'};
    const code = character.codePointAt(0).toString(16);

    return short[character] ||
        (code.length > 4 ? `\\u{${code}}` : '\\u' + code.padStart(4, '0'));
}

/* Appends the text. What is hidden becomes visible; with `keepsLines` lines
 * and tabs stay. */
function appendText(parent, text, keepsLines = false) {
    let from = 0;

    for (const match of text.matchAll(hidden)) {
        const character = match[0];

        if (keepsLines && (character === '\n' || character === '\t'))
            continue;
        if (match.index > from)
            parent.append(text.slice(from, match.index));
        parent.append(element('span', {class: 'code'}, nameOf(character)));
        from = match.index + character.length;
    }
    parent.append(text.slice(from));
    return parent;
}

/* The text with what is hidden made visible, where only a string can be. */
function visible(text) {
    return text.replace(hidden, nameOf);
}

/* Cuts a text, not inside a pair of surrogates. */
function cut(text, size) {
    if (text.length <= size)
        return text;
    return text.slice(0, /[\ud800-\udbff]/.test(text[size - 1]) ? size - 1 : size);
}

/* -------------------------------------------------------------- numbers --- */

const grouped = new Intl.NumberFormat('en-US');

function thousands(number) {
    return grouped.format(number);
}

function countOf(number, noun) {
    return `${thousands(number)} ${noun}${Number(number) === 1 ? '' : 's'}`;
}

function bytesText(size) {
    const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
    let unit = 0;

    for (; size >= 1000 && unit < units.length - 1; unit++)
        size /= 1000;
    return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

function timeText(microseconds) {
    if (microseconds < 1000)
        return `${Math.round(microseconds)} µs`;
    if (microseconds < 1e6)
        return `${(microseconds / 1000).toFixed(microseconds < 1e4 ? 2 : 0)} ms`;
    return `${(microseconds / 1e6).toFixed(1)} s`;
}

function shareText(share) {
    if (share >= 0.9995 || share === 0)
        return `${Math.round(share * 100)} %`;
    return share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/* ---------------------------------------------------------------- words --- */

/* Splits a text as the server splits the parameter q. Returns words as
 * {text, start, end}; the last has isOpen if its quote is not closed. */
function splitWords(from) {
    const words = [];
    const blank = /[ \t-\r]/;
    let at = 0;

    for (;;) {
        while (at < from.length && blank.test(from[at]))
            at++;
        if (at === from.length)
            return words;
        const word = {text: '', start: at, end: at, isOpen: false};

        while (at < from.length && !blank.test(from[at])) {
            const quote = from[at];

            if (quote !== '"' && quote !== '\'') {
                if (quote === '\\' && at + 1 < from.length)
                    at++;
                word.text += from[at++];
                continue;
            }
            for (at++; at < from.length && from[at] !== quote; at++) {
                if (quote === '"' && from[at] === '\\' &&
                    (from[at + 1] === '"' || from[at + 1] === '\\'))
                    at++;
                word.text += from[at];
            }
            word.isOpen = at >= from.length;
            at++;
        }
        at = Math.min(at, from.length);
        word.end = at;
        words.push(word);
    }
}

function inSingleQuotes(text) {
    return `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}

/* A word for the search box. */
function quoteWord(text) {
    return text === '' || /[\s'"\\]/.test(text) ? inSingleQuotes(text) : text;
}

/* A word for a shell: sh, bash, zsh, fish. */
function quoteShell(text) {
    return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : inSingleQuotes(text);
}

/* The index in `text` of a byte of its UTF-8. */
function indexOfByte(text, offset) {
    let index = 0;

    for (const character of text) {
        const code = character.codePointAt(0);

        offset -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (offset < 0)
            break;
        index += character.length;
    }
    return index;
}

/* ----------------------------------------------------------- conditions --- */

/* The name of a column as a step of a path. */
function escapeName(name) {
    return name.replace(/[\u0000-\u001f\u007f.[\]\\]/g, (one) =>
        /[.[\]\\]/.test(one) ? '\\' + one
            : '\\x' + one.charCodeAt(0).toString(16).padStart(2, '0'));
}

/* A path as a condition begins with it: operators become part of the name. */
function conditionPath(path) {
    return path.replace(/\\[^]|[=!<>~?:]|^["'( ]| $/g,
        (part) => part[0] === '\\' ? part : '\\' + part);
}

/* A path for people. */
function plainPath(path) {
    return visible(path.replace(/\\(x[0-9a-f]{2}|[^])/g,
        (all, part) => part.length === 1 ? part : all));
}

/* A scalar as the VALUE of a condition that means it and nothing else. */
function conditionValue(value) {
    if (typeof value !== 'string')
        return value instanceof Numeral ? value.text : String(value);
    return value === '' || /^[\s"'[=<>~@]|\s$|[\u0000-\u001f]/.test(value) ||
        /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(value)
        ? JSON.stringify(value) : value;
}

/* Whether a condition can have the value: it would be too long otherwise. */
function fitsCondition(value) {
    return !isContainer(value) &&
        (typeof value !== 'string' || value.length <= 1000);
}

/* Adds a condition to the words of a search, which it narrows. */
function withCondition(q, condition, isNot = false) {
    const words = splitWords(q);
    const text = q.trim();
    const added = (isNot ? 'not ' : '') + quoteWord(condition);

    if (!isNot && words.some((word) => word.text === condition))
        return text;
    if (text === '')
        return added;
    return words.some((word) => word.text === 'or') ? `( ${text} ) ${added}` : `${text} ${added}`;
}
