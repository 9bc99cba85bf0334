/* JSON, read without a loss: numbers keep their digits, members their order,
 * and a member may be called __proto__. Maps are Map, arrays are Array. */

class Numeral {
    constructor(text) {
        this.text = text;
    }
}

function readJson(text) {
    const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    const blank = /\s*/y;
    let at = 0;

    function fail() {
        throw new SyntaxError(`character ${at} of an answer is not JSON`);
    }

    function string() {
        const start = at;

        for (;;) {
            let slashes = 0;

            at = text.indexOf('"', at + 1);
            if (at < 0)
                fail();
            while (text[at - 1 - slashes] === '\\')
                slashes++;
            if (slashes % 2 === 0)
                break;
        }
        const raw = text.slice(start, ++at);

        return raw.includes('\\') ? JSON.parse(raw) : raw.slice(1, -1);
    }

    function next(expected) {
        blank.lastIndex = at;
        blank.test(text);
        at = blank.lastIndex;
        if (expected !== undefined && text[at++] !== expected)
            fail();
        return text[at];
    }

    /* Calls `item` for each, from the bracket on. */
    function list(close, item) {
        at++;
        if (next() === close) {
            at++;
            return;
        }
        do {
            item();
        } while (next() === ',' && at++ >= 0);
        next(close);
    }

    function value() {
        const first = next();

        if (first === '"')
            return string();
        if (first === '{') {
            const map = new Map();

            list('}', () => {
                if (next() !== '"')
                    fail();
                const name = string();

                next(':');
                map.set(name, value());
            });
            return map;
        }
        if (first === '[') {
            const array = [];

            list(']', () => array.push(value()));
            return array;
        }
        for (const [word, means] of [['true', true], ['false', false], ['null', null]]) {
            if (text.startsWith(word, at)) {
                at += word.length;
                return means;
            }
        }
        number.lastIndex = at;
        if (!number.test(text))
            fail();
        const digits = text.slice(at, number.lastIndex);

        at = number.lastIndex;
        return new Numeral(digits);
    }

    const whole = value();

    next();
    if (at !== text.length)
        fail();
    return whole;
}

function isContainer(value) {
    return value instanceof Map || Array.isArray(value);
}

function typeOf(value) {
    if (value === null)
        return 'null';
    if (value instanceof Map)
        return 'map';
    if (Array.isArray(value))
        return 'array';
    return value instanceof Numeral ? 'number' : typeof value;
}

/* JSON on one line; stops soon after `max` characters. */
function compact(value, max = Infinity) {
    let text = '';

    function add(one) {
        if (text.length > max)
            return;
        if (typeof one === 'string')
            text += JSON.stringify(one.length > max ? cut(one, max) : one);
        else if (one instanceof Numeral)
            text += one.text;
        else if (!isContainer(one))
            text += String(one);
        else
            addAll(one);
    }

    function addAll(container) {
        const isMap = container instanceof Map;
        let separator = isMap ? '{' : '[';

        for (const item of container) {
            text += separator;
            separator = ', ';
            if (isMap)
                text += JSON.stringify(item[0]) + ': ';
            add(isMap ? item[1] : item);
            if (text.length > max)
                return;
        }
        text += (separator.length === 1 ? separator : '') + (isMap ? '}' : ']');
    }

    add(value);
    return text;
}

function numberAt(map, name) {
    const value = map.get(name);

    return value instanceof Numeral ? Number(value.text) : 0;
}

/* All values at a path in the columns of a row. */
function valuesAt(columnsOfRow, path) {
    const steps = path.match(/\[\]|(?:\\[^]|[^.[\\])+/g) || [''];
    let values = [columnsOfRow];

    for (const step of steps) {
        const name = step.replace(/\\(x[0-9a-f]{2}|[^])/g, (all, part) => part.length === 1
            ? part : String.fromCharCode(parseInt(part.slice(1), 16)));

        values = step === '[]' ? values.filter(Array.isArray).flat(1)
            : values.filter((value) => value instanceof Map && value.has(name))
                .map((value) => value.get(name));
    }
    return values;
}
