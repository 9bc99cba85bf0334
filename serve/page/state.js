/* The state of the page: the fragment of its URL, which is not sent to the
 * server. */

const lists = ['any', 'column', 'facet'];
const texts = ['family', 'q', 'since', 'until', 'order', 'view'];
let state = readState();

function readState() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const read = {fold: parameters.get('i') === '1'};

    for (const name of texts)
        read[name] = parameters.get(name) || '';
    for (const name of lists)
        read[name] = parameters.getAll(name);
    return read;
}

function hashOf(changed) {
    const parameters = new URLSearchParams();

    for (const name of texts) {
        if (changed[name] !== '')
            parameters.append(name, changed[name]);
    }
    for (const name of lists) {
        for (const one of changed[name])
            parameters.append(name, one);
    }
    if (changed.fold)
        parameters.append('i', '1');
    return '#' + parameters;
}

/* Goes to another state: what is not in `change` stays. */
function go(change) {
    const before = state;

    state = {...state, ...change};
    if (hashOf(state) !== hashOf(before))
        history.pushState(null, '', hashOf(state));
    show(before);
}

/* A family without conditions. */
function familyState(family) {
    return {family, q: '', since: '', until: '', order: '', view: state.view,
        fold: false, any: [], column: [], facet: []};
}

/* The parameters of all that asks for the rows of the state. */
function conditions() {
    const parameters = [['q', state.q]];

    for (const value of state.any)
        parameters.push(['any', value]);
    if (state.fold)
        parameters.push(['i', '1']);
    if (state.since !== '')
        parameters.push(['since', state.since]);
    if (state.until !== '')
        parameters.push(['until', state.until]);
    return parameters;
}

/* The command line that finds the same rows, for the machine of the browser. */
function commandLine() {
    const words = splitWords(state.q).map((word) => word.text);
    const options = [];

    function option(name, value) {
        if (value.startsWith('-'))
            options.push(quoteShell(`--${name}=${value}`));
        else
            options.push(`--${name} ${quoteShell(value)}`);
    }

    if (state.fold)
        options.push('-i');
    for (const value of state.any)
        option('any', value);
    for (const name of ['since', 'until', 'order']) {
        if (state[name] !== '')
            option(name, state[name]);
    }
    for (const path of state.column)
        option('select', path.replaceAll(',', '\\,'));
    const names = [location.origin, state.family, ...words];
    const program = sessionStorage.getItem(tokenPlace) === null
        ? 'colander find' : 'COLANDER_TOKEN_FILE=token colander find';
    const plain = names.map(quoteShell).join(' ');

    if (names.some((word) => word.startsWith('-')))
        return [program, ...options, '--', plain].join(' ');
    return [program, plain, ...options].join(' ');
}
