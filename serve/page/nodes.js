/* The nodes of a cluster, under the families, if the server is one of them. */

const nodesAgainMs = 5000;
const nodesTurn = new Turn();
let nodesTimer;
let clusterFamilies = []; /* as /nodes has them */

function placeText(place) {
    const applied = place.get('applied');
    const phase = place.get('phase');
    const lag = numberAt(place, 'lag');
    let text = place.get('node');

    if (place.get('up_to_date') === undefined)
        return `${text} has not begun`;
    if (phase === 'stopped' || phase === 'waiting' || phase === 'opening')
        text += ` ${phase}`;
    if (applied !== undefined)
        text += ` at ${thousands(applied.text)}`;
    return lag > 0 ? `${text} (${thousands(lag)} to go)` : text;
}

/* The newest checkpoint that a node of a partition knows. */
function checkpointText(places) {
    let newest = -1;
    let text = '–';

    for (const place of places) {
        if (place.get('checkpoint') === undefined || numberAt(place, 'checkpoint') <= newest)
            continue;
        newest = numberAt(place, 'checkpoint');
        text = `at ${thousands(newest)}, ${shortTime(place.get('checkpoint_made'))}`;
    }
    return text;
}

function nodeRow(node) {
    return element('tr', {},
        appendText(element('th', {scope: 'row'}), node.get('node')),
        appendText(element('td', {'data-label': 'address'}), node.get('address') || '–'),
        appendText(element('td', {'data-label': 'version'}), node.get('version') || '–'),
        element('td', {class: 'number', 'data-label': 'partitions'},
            thousands(numberAt(node, 'partitions'))),
        element('td', {class: 'number', 'data-label': 'heard'},
            `${(numberAt(node, 'age_ms') / 1000).toFixed(1)} s ago`));
}

function partitionRow(family, partition) {
    const places = partition.get('nodes');
    const number = String(numberAt(partition, 'partition')).padStart(4, '0');
    const owners = places.filter((place) => place.get('owner'));
    const others = places.filter((place) => !place.get('owner'));
    const isServed = places.some((place) => place.get('up_to_date'));

    return element('tr', isServed ? {} : {class: 'bad'},
        appendText(element('th', {scope: 'row'}), `${family.get('family')}/${number}`),
        appendText(element('td', {'data-label': 'owners'}),
            owners.map(placeText).join(', ') || '–'),
        appendText(element('td', {'data-label': 'also at'}),
            others.map(placeText).join(', ') || '–'),
        element('td', {class: 'time', 'data-label': 'last checkpoint'}, checkpointText(places)));
}

/* There may be thousands: only if someone looks. */
function showPartitions() {
    byId('partition-rows').replaceChildren(...!byId('nodes-partitions').open ? []
        : clusterFamilies.flatMap((family) => family.get('partitions').map(
            (partition) => partitionRow(family, partition))));
}

function showCluster(cluster) {
    const nodes = cluster.get('nodes');
    const missing = cluster.get('missing') || [];
    clusterFamilies = cluster.get('families') || [];
    const count = clusterFamilies.reduce(
        (sum, family) => sum + family.get('partitions').length, 0);

    byId('nodes').hidden = nodes.length === 0;
    if (nodes.length === 0)
        return;
    byId('nodes-sum').replaceChildren();
    appendText(byId('nodes-sum'), `${countOf(nodes.length, 'node')} of the cluster ` +
        `${cluster.get('cluster')}, ${countOf(count, 'partition')}` +
        (missing.length === 0 ? ', nothing is missing' : ''));
    byId('nodes-missing').hidden = missing.length === 0;
    byId('nodes-missing').replaceChildren(
        ...missing.map((sentence) => appendText(element('li'), sentence)));
    byId('nodes-rows').replaceChildren(...nodes.map(nodeRow));
    showPartitions();
}

/* Shows them, and again as long as the families are shown. */
async function showNodes() {
    const signal = nodesTurn.start();

    clearTimeout(nodesTimer);
    try {
        const response = await ask('/nodes', null, signal);

        showCluster(readJson(await response.text()));
    } catch (error) {
        if (isAbort(error))
            return;
        byId('nodes-sum').textContent = error.message; /* what is below is old */
    }
    if (!byId('nodes').hidden && state.family === '')
        nodesTimer = setTimeout(showNodes, nodesAgainMs);
}
