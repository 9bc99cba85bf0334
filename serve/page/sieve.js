/* What the filters did, drawn: each hole is a file (or several), and the bars
 * are the rows that were left after each step. */

const holeMax = 160;

/* Shares `count` holes among parts, at least one for each that is not 0. */
function holesOf(parts, count) {
    const sum = parts.reduce((total, part) => total + part, 0);
    const holes = parts.map((part) => part === 0 ? 0 : Math.max(1, Math.round(count * part / sum)));

    while (holes.reduce((total, hole) => total + hole, 0) > count)
        holes[holes.indexOf(Math.max(...holes))]--;
    return holes;
}

function fileHoles(files) {
    const pitch = 11;
    const total = Math.min(holeMax, files.reduce((sum, file) => sum + file.count, 0));
    const holes = holesOf(files.map((file) => file.count), total);
    const perLine = Math.min(40, total);
    const lines = Math.ceil(total / perLine);
    const svg = drawing('svg', {
        class: 'holes', width: perLine * pitch, height: lines * pitch,
        viewBox: `0 0 ${perLine * pitch} ${lines * pitch}`, 'aria-hidden': 'true',
    });
    let at = 0;

    files.forEach((file, index) => {
        for (let hole = 0; hole < holes[index]; hole++, at++) {
            svg.append(drawing('circle', {
                class: file.kind, cx: (at % perLine) * pitch + pitch / 2,
                cy: Math.floor(at / perLine) * pitch + pitch / 2, r: 3.8,
            }));
        }
    });
    return svg;
}

/* Bars whose lengths are logarithms: from millions to a few. */
function rowSteps(stages) {
    const most = Math.max(...stages.map((step) => step.count), 1);
    const list = element('ol', {class: 'steps'});

    for (const step of stages) {
        const share = step.count === 0 ? 0 : 0.04 + 0.96 * Math.log(step.count + 1) / Math.log(most + 1);

        list.append(element('li', {},
            element('span', {class: 'step-count'}, (step.isAbout ? '≈ ' : '') + thousands(step.count)),
            shareBar(share, step.kind), element('span', {class: 'step-name'}, step.name)));
    }
    return list;
}

function planText(plan) {
    return {scan: 'a scan', candidates: 'value filters', key: 'the key', none: 'nothing to read'}[plan] || plan;
}

/* Draws the explanation of the last answer. */
function showSieve() {
    const place = byId('sieve');

    byId('took').textContent = '';
    if (end === null || end.get('plan') === undefined) {
        place.hidden = true;
        return;
    }
    const number = (name) => numberAt(end, name);
    const time = number('plan_us') + number('read_us') + number('verify_us');
    const family = familyNamed(state.family);
    const files = [
        {count: number('files_pruned'), kind: 'pruned', name: 'ruled out in memory, by the hierarchy'},
        {count: number('files_located'), kind: 'located', name: 'ruled out on disk, by locators'},
        {count: number('files_read'), kind: 'read', name: 'may hold matching rows: read'},
    ];
    const isScan = end.get('plan') === 'scan';
    const total = family === undefined ? 0 : numberAt(family, 'rows');
    const stages = [{count: total, isAbout: true, kind: 'pruned', name: 'rows in the family'}];

    if (!isScan)
        stages.push({count: number('candidates'), kind: 'located', name: 'candidates that the filters named'});
    stages.push({count: number('rows_read') + number('rows_verified'), kind: 'read', name: isScan ? 'read' : 'read and verified'},
        {count: number('rows'), kind: 'returned', name: 'returned'});
    byId('took').textContent = `found by ${planText(end.get('plan'))} in ${timeText(time)}, ${bytesText(number('bytes_read'))} read`;
    place.hidden = false;
    const why = end.get('reason');
    const legend = element('ul', {class: 'legend'});

    for (const file of isScan ? [] : files) {
        legend.append(element('li', {class: file.count === 0 ? 'soft' : ''},
            element('i', {class: `hole ${file.kind}`}), `${thousands(file.count)} ${file.name}`));
    }
    if (number('recent_found') > 0)
        legend.append(element('li', {}, element('i', {class: 'hole read'}), `${countOf(number('recent_found'), 'candidate')} in no file yet`));
    byId('sieve-files').replaceChildren(element('h3', {}, countOf(number('files'), 'file')),
        isScan || number('files') === 0 ? '' : fileHoles(files), legend,
        isScan ? element('p', {class: 'soft'}, 'Every row was read, up to the last one shown.') : '');
    byId('sieve-rows').replaceChildren(element('h3', {}, 'Rows'), rowSteps(stages),
        appendText(element('p', {class: 'soft'}), why === undefined ? '' : `Because ${why}.`));
}
