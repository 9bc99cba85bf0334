/* The server: requests that read, and answers that are whole. */

const tokenPlace = 'colander-token';

class Failure extends Error {
    constructor(status, message, at = null) {
        super(message);
        this.status = status;
        this.at = at; /* {parameter, offset}, or null */
    }
}

function failureOf(status, error) {
    const at = error.get('at');

    return new Failure(status, String(error.get('message')), at instanceof Map
        ? {parameter: at.get('parameter'), offset: numberAt(at, 'offset')} : null);
}

/* Asks for `path`. The token goes in a header, and is kept as long as this tab
 * is open. */
async function ask(path, parameters = null, signal = undefined) {
    const token = sessionStorage.getItem(tokenPlace);
    let response;

    try {
        response = await fetch(path, {
            method: parameters === null ? 'GET' : 'POST',
            body: parameters === null ? undefined : new URLSearchParams(parameters),
            headers: token === null ? {} : {Authorization: `Bearer ${token}`},
            signal,
            cache: 'no-store',
            credentials: 'omit',
            redirect: 'error',
        });
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
        throw new Failure(0, 'The server cannot be reached.');
    }
    if (response.ok)
        return response;
    let failure = new Failure(response.status, `The server answers with status ${response.status}.`);

    try {
        failure = failureOf(response.status, readJson(await response.text()).get('error'));
    } catch {
        /* what is between this page and the server has answered */
    }
    throw failure;
}

/* Asks about a family. Its name may be one that a path cannot have. */
function askFamily(what, family, parameters, signal) {
    return ask(`/${what}?family=${encodeURIComponent(family)}`, parameters, signal);
}

/* Calls `take` with each line but the last. Returns the last one, which says
 * that the answer is whole. */
async function eachLine(response, take) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    let last = null;

    try {
        for (;;) {
            const {value, done} = await reader.read();

            if (done)
                break;
            let from = 0;
            let end = value.indexOf('\n');

            for (; end >= 0; end = value.indexOf('\n', from)) {
                if (last !== null)
                    await take(last);
                last = rest + value.slice(from, end);
                rest = '';
                from = end + 1;
            }
            rest += value.slice(from);
        }
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
        throw new Failure(0, 'The connection broke: the answer is not whole.');
    } finally {
        reader.cancel().catch(() => {});
    }
    const frame = last === null ? new Map() : readJson(last);

    if (frame.size === 1 && frame.get('_end') instanceof Map)
        return frame.get('_end');
    if (frame.size === 1 && frame.get('error') instanceof Map)
        throw failureOf(200, frame.get('error'));
    throw new Failure(0, 'The answer is not whole.');
}

/* Returns {rows, end} of an answer. */
async function allLines(response) {
    const rows = [];
    const end = await eachLine(response, (line) => {
        rows.push(readJson(line));
    });

    return {rows, end};
}

/* One thing at a time: starting it again ends what was under way. */
class Turn {
    start() {
        this.stop();
        this.controller = new AbortController();
        return this.controller.signal;
    }

    stop() {
        if (this.controller !== undefined)
            this.controller.abort();
    }
}

function isAbort(error) {
    return error.name === 'AbortError';
}
