/* All rows of the search, as a file of JSON lines. */

const exportTurn = new Turn();

/* Opens a file that the user chooses; null: the browser cannot, and rows are
 * held until they are all there. */
async function openFile(name) {
    if (typeof window.showSaveFilePicker !== 'function')
        return null;
    const file = await window.showSaveFilePicker({suggestedName: name});

    return file.createWritable();
}

function saveHeld(parts, name) {
    const link = element('a', {href: URL.createObjectURL(new Blob(parts, {type: 'application/x-ndjson'})), download: name});

    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function exportRows() {
    const name = `${state.family.replace(/[^\w.-]+/g, '_').replace(/^\.+/, '') || 'rows'}.jsonl`;
    const signal = exportTurn.start();
    const place = byId('export-note');
    const parts = [];
    let buffered = [];
    let size = 0;
    let count = 0;
    let file = null;

    async function write() {
        const text = buffered.join('');

        buffered = [];
        size = 0;
        if (file === null)
            parts.push(new Blob([text]));
        else
            await file.write(text);
        byId('export-count').textContent = countOf(count, 'row');
    }

    try {
        file = await openFile(name);
        place.hidden = false;
        byId('export-count').textContent = 'Starting …';
        const parameters = conditions();

        if (state.order !== '')
            parameters.push(['order', state.order]);
        if (state.column.length > 0)
            parameters.push(selection(state.column));
        await eachLine(await askFamily('find', state.family, parameters, signal), async (line) => {
            buffered.push(line, '\n');
            size += line.length + 1;
            count++;
            if (size > 1 << 20)
                await write();
        });
        await write();
        if (file === null)
            saveHeld(parts, name);
        else
            await file.close();
        notice(`Exported ${countOf(count, 'row')}.`);
    } catch (error) {
        if (file !== null)
            await file.abort().catch(() => {});
        if (isAbort(error))
            notice('The export was cancelled: there is no file.');
        else
            byId('failure').replaceChildren(failureBox(new Failure(0,
                `There is no file of ${countOf(count, 'row')}: ${error.message}`), exportRows));
    } finally {
        place.hidden = true;
    }
}
