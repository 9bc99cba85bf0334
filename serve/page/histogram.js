/* The histogram: how many rows of the search there are in each bucket of the
 * time column. Dragging over it sets since and until, and so do the keys. */

const steps = [
    ['1s', 1], ['5s', 5], ['15s', 15], ['30s', 30], ['1m', 60], ['5m', 300],
    ['15m', 900], ['30m', 1800], ['1h', 3600], ['3h', 10800], ['6h', 21600],
    ['12h', 43200], ['1d', 86400], ['1w', 604800], ['1mo', 2629800],
    ['3mo', 7889400], ['1y', 31557600], ['10y', 315576000], ['100y', 3155760000],
];
const bucketMax = 140;
const histogramTurn = new Turn();
let histogram = null; /* {buckets: [{start, end, count}], untimed, step} */
let drawnWidth = 0;
let brush = null; /* {from, to} of buckets, while it is chosen */

/* Seconds of a time as it is printed; NaN if it is none. */
function secondsOf(text) {
    const time = /^(\d{4}-\d\d(?:-\d\d)?)(?:[T ](\d\d:\d\d(?::\d\d)?)[.,\d]*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(text);

    if (time === null)
        return NaN;
    return Date.parse(`${time[1].padEnd(10, '-01')}T${time[2] || '00:00'}${time[3] || 'Z'}`) / 1000;
}

function timeOf(seconds) {
    return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/* The moment of since or until: a time, or a duration before now. */
function momentOf(text) {
    const units = {s: 1, m: 60, h: 3600, d: 86400, w: 604800};

    if (/^(\d+[smhdw])+$/.test(text)) {
        return Date.now() / 1000 - [...text.matchAll(/(\d+)([smhdw])/g)]
            .reduce((sum, [, number, unit]) => sum + number * units[unit], 0);
    }
    return secondsOf(text.replace(/^@/, ''));
}

/* The first second of the bucket after the one that begins at `start`. */
function nextBucket(start, step) {
    const date = new Date(start * 1000);

    if (step.endsWith('mo'))
        date.setUTCMonth(date.getUTCMonth() + parseInt(step, 10));
    else if (step.endsWith('y'))
        date.setUTCFullYear(date.getUTCFullYear() + parseInt(step, 10));
    else
        return start + steps.find(([name]) => name === step)[1];
    return date.getTime() / 1000;
}

function stepFor(seconds) {
    return steps.find(([, size]) => seconds / size <= bucketMax) || steps[steps.length - 1];
}

/* Asks for buckets of a size. Returns {buckets, untimed, rows}: the buckets
 * that have rows, and the rows without a time. */
async function readBuckets(step, parameters, signal) {
    const path = timeColumn();
    const {rows, end} = await allLines(await askFamily('group', state.family, [
        ...conditions(), ...parameters, ['by', `bucket(${path},${step})`], ['count', '1'],
        ['memory', '256m']], signal));
    const read = {buckets: [], untimed: 0, rows: numberAt(end, 'rows')};

    for (const row of rows) {
        const values = [...row.values()];
        const start = values.length === 1 ? NaN : secondsOf(String(values[0]));
        const count = Number(values[values.length - 1].text);

        if (Number.isNaN(start))
            read.untimed += count;
        else
            read.buckets.push({start, end: nextBucket(start, step), count});
    }
    return read;
}

/* Counts the rows; draws them if they have times. */
async function countRows(isPatient = false) {
    const signal = histogramTurn.start();
    const place = byId('histogram');
    const path = timeColumn();
    const limits = isPatient ? [] : [['timeout', '5s']];

    histogram = null;
    place.classList.add('waits');
    try {
        if (path === undefined) {
            drawHistogram();
            const {rows} = await allLines(await askFamily('group', state.family,
                [...conditions(), ['count', '1'], ...limits], signal));

            showCount(numberAt(rows[0] || new Map(), 'count'));
            return;
        }
        const span = await spanOf(state.family);
        const from = state.since === '' ? secondsOf(span.oldest || '') : momentOf(state.since);
        const to = state.until === '' ? secondsOf(span.newest || '') : momentOf(state.until);
        let [step] = stepFor(Math.max(1, (to - from) || 1));
        let read = await readBuckets(step, limits, signal);
        const last = read.buckets[read.buckets.length - 1];

        showCount(read.rows);
        /* few buckets of many: the rows lie close together */
        if (last !== undefined && read.rows > 1) {
            const [finer] = stepFor(last.end - read.buckets[0].start);

            if (finer !== step && read.buckets.length < bucketMax / 4) {
                read = await readBuckets(finer, limits, signal);
                step = finer;
            }
        }
        histogram = {...read, step};
        fillBuckets();
        drawHistogram();
    } catch (error) {
        if (isAbort(error))
            return;
        showCount(null);
        place.replaceChildren(error.status === 504
            ? element('p', {class: 'soft'}, 'Counting all rows takes longer than five seconds. ',
                button('Count them', () => countRows(true)))
            : error.at !== null || error.status === 400 ? '' : failureBox(error, () => countRows(isPatient)));
    } finally {
        if (!signal.aborted)
            place.classList.remove('waits');
    }
}

/* Adds the buckets without rows, if that makes no crowd of them. */
function fillBuckets() {
    const filled = [];
    const buckets = histogram.buckets;

    for (const bucket of buckets) {
        let at = filled.length === 0 ? bucket.start : filled[filled.length - 1].end;

        for (; at < bucket.start && filled.length <= 3 * bucketMax; at = filled[filled.length - 1].end)
            filled.push({start: at, end: nextBucket(at, histogram.step), count: 0});
        filled.push(bucket);
        if (filled.length > 3 * bucketMax)
            return;
    }
    histogram.buckets = filled;
}

/* -------------------------------------------------------------- drawing --- */

function bucketText(from, to) {
    const day = steps.findIndex(([name]) => name === '1d');
    const isLong = steps.findIndex(([name]) => name === histogram.step) >= day;
    const show = (seconds) => timeOf(seconds).replace('T', ' ').slice(0, isLong ? 10 : 19);

    return `${show(from)} – ${show(to)}`;
}

function drawHistogram() {
    const place = byId('histogram');
    const path = timeColumn();

    brush = null;
    byId('moment').textContent = '';
    if (path === undefined) {
        place.replaceChildren(element('p', {class: 'soft'}, 'No time column. ',
            element('code', {}, `colander families STORE ${quoteShell(visible(state.family))} --time COLUMN`),
            ' sets one, and the rows are drawn over time.'));
        return;
    }
    if (histogram === null || histogram.buckets.length === 0) {
        place.replaceChildren(element('p', {class: 'soft'},
            histogram === null || histogram.untimed === 0 ? '' : 'None of these rows has a time.'));
        return;
    }
    const {buckets} = histogram;
    const width = Math.max(240, place.clientWidth);

    drawnWidth = place.clientWidth;
    const height = 84;
    const base = height - 18;
    const most = Math.max(...buckets.map((bucket) => bucket.count));
    const step = width / buckets.length;
    const svg = drawing('svg', {
        width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: 'application',
        'aria-label': `rows over ${plainPath(path)}: arrows move, Shift and arrows choose, Enter narrows the search`,
    });

    buckets.forEach((bucket, index) => {
        const tall = bucket.count === 0 ? 0 : Math.max(1.5, (base - 6) * bucket.count / most);

        svg.append(drawing('rect', {
            class: 'bucket', x: index * step + Math.min(0.5, step / 8), y: base - tall,
            width: Math.max(0.8, step - Math.min(1, step / 4)), height: tall, rx: Math.min(1.5, step / 4),
        }));
    });
    svg.append(drawing('line', {class: 'axis', x1: 0, x2: width, y1: base + 0.5, y2: base + 0.5}),
        drawing('rect', {class: 'brush', x: 0, y: 0, width: 0, height: base}));
    drawAxis(svg, width, height);
    place.replaceChildren(svg);
    listenTo(svg, width);
    showScale();
}

/* Says how long a bar is, and what is not drawn. */
function showScale() {
    const units = {s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month', y: 'year'};
    const [, number, unit] = /^(\d+)([a-z]+)$/.exec(histogram.step);

    byId('moment').textContent = `${countOf(number, units[unit])} each` +
        (histogram.untimed === 0 ? '' : `, and ${countOf(histogram.untimed, 'row')} without a time`);
}

function drawAxis(svg, width, height) {
    const {buckets} = histogram;
    const count = Math.max(1, Math.min(6, Math.floor(width / 130), buckets.length));
    const span = buckets[buckets.length - 1].end - buckets[0].start;

    for (let tick = 0; tick < count; tick++) {
        const index = Math.floor(tick * buckets.length / count);
        const time = timeOf(buckets[index].start).replace('T', ' ');
        const text = span > 8e7 ? time.slice(0, 7) : span > 86400 * 6 ? time.slice(0, 10)
            : span > 600 ? time.slice(5, 16) : time.slice(11, 19);
        const x = index * width / buckets.length;

        svg.append(drawing('line', {class: 'axis', x1: x + 0.5, x2: x + 0.5, y1: height - 18, y2: height - 13}),
            drawing('text', {class: 'tick', x: x + 3, y: height - 3}, text));
    }
}

/* ------------------------------------------------------------- choosing --- */

function showBrush(svg, width) {
    const {buckets} = histogram;
    const step = width / buckets.length;
    const from = Math.min(brush.from, brush.to);
    const to = Math.max(brush.from, brush.to);
    const count = buckets.slice(from, to + 1).reduce((sum, bucket) => sum + bucket.count, 0);
    const shape = svg.querySelector('.brush');

    shape.setAttribute('x', from * step);
    shape.setAttribute('width', (to - from + 1) * step);
    byId('moment').textContent =
        `${bucketText(buckets[from].start, buckets[to].end)}: ${countOf(count, 'row')}`;
}

/* A time as the column has it: texts are compared as texts. */
function likeColumn(seconds) {
    const column = columns.find((one) => one.path === timeColumn());
    const example = column === undefined ? undefined : column.values[0];
    const text = timeOf(seconds);

    if (typeof example !== 'string' || column.types.some(([type]) => type === 'timestamp'))
        return text;
    return (example[10] === ' ' ? text.replace('T', ' ') : text)
        .replace('Z', /[zZ]$/.test(example) ? 'Z' : '');
}

function takeBrush() {
    const {buckets} = histogram;
    const from = Math.min(brush.from, brush.to);
    const to = Math.max(brush.from, brush.to);

    go({since: likeColumn(buckets[from].start), until: likeColumn(buckets[to].end)});
}

function listenTo(svg, width) {
    const {buckets} = histogram;
    let isDown = false;

    function bucketAt(event) {
        const box = svg.getBoundingClientRect();
        const index = Math.floor((event.clientX - box.left) / box.width * buckets.length);

        return Math.max(0, Math.min(buckets.length - 1, index));
    }

    svg.addEventListener('pointerdown', (event) => {
        if (event.button !== 0)
            return;
        isDown = true;
        svg.setPointerCapture(event.pointerId);
        brush = {from: bucketAt(event), to: bucketAt(event)};
        showBrush(svg, width);
    });
    svg.addEventListener('pointermove', (event) => {
        const at = bucketAt(event);

        brush = isDown ? {from: brush.from, to: at} : {from: at, to: at};
        showBrush(svg, width);
    });
    svg.addEventListener('pointerup', () => {
        if (isDown)
            takeBrush();
        isDown = false;
    });
    svg.addEventListener('pointerleave', () => {
        if (!isDown)
            showScale();
    });
    svg.addEventListener('keydown', (event) => {
        const moves = {ArrowLeft: -1, ArrowRight: 1};

        if (event.key in moves) {
            const to = brush === null ? 0
                : Math.max(0, Math.min(buckets.length - 1, brush.to + moves[event.key]));

            event.preventDefault();
            brush = {from: event.shiftKey && brush !== null ? brush.from : to, to};
            showBrush(svg, width);
        } else if (event.key === 'Enter' && brush !== null) {
            takeBrush();
        }
    });
}
