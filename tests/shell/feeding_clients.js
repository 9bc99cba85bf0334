// Feeds a server by the clients of Elasticsearch and InfluxDB for JavaScript,
// and prints what they report.
//
//     node feeding_clients.js ADDRESS TOKEN
//
// SPDX-License-Identifier: MIT
'use strict'
const { Client } = require('@elastic/elasticsearch')
const { InfluxDB, Point } = require('@influxdata/influxdb-client')

const [, , address, token] = process.argv
const COUNT = 5000

async function elasticsearch () {
  const client = new Client({
    node: address,
    auth: { apiKey: { id: 'any', api_key: token } },
    compression: true
  })
  const rows = []
  const refused = []

  if (!(await client.ping())) throw new Error('no answer to a ping')
  const info = await client.info()
  if (info.tagline !== 'You Know, for Search') throw new Error('no tagline')
  for (let i = 0; i < COUNT; i++) rows.push({ number: i, by: 'elasticsearch' })
  const result = await client.helpers.bulk({
    datasource: rows,
    flushBytes: 20000,
    concurrency: 3,
    retries: 0,
    onDocument: row => ({ create: { _index: 'client', _id: `id${row.number}` } }),
    onDrop: drop => refused.push(drop)
  })
  if (result.successful !== COUNT || result.failed !== 0) {
    throw new Error(`bulk: ${JSON.stringify(result)}`)
  }
  // again: all of them are there
  const again = await client.helpers.bulk({
    datasource: rows.slice(0, 10),
    retries: 0,
    onDocument: row => ({ create: { _index: 'client', _id: `id${row.number}` } }),
    onDrop: drop => refused.push(drop)
  })
  if (again.failed !== 10 || refused.some(drop => drop.status !== 409)) {
    throw new Error(`again: ${JSON.stringify(again)} ${JSON.stringify(refused)}`)
  }
  const answer = await client.bulk({
    operations: [
      { update: { _index: 'client', _id: 'id7' } }, { doc: { seen: true } },
      { delete: { _index: 'client', _id: 'id8' } },
      { delete: { _index: 'client', _id: 'none' } }
    ]
  })
  const statuses = answer.items.map(item => Object.values(item)[0].status)
  if (answer.errors || statuses.join() !== '200,200,404') {
    throw new Error(JSON.stringify(answer))
  }
  await client.close()
}

async function influx () {
  const api = new InfluxDB({ url: address, token })
    .getWriteApi('any', 'points', 'ms', { gzipThreshold: 1000, maxRetries: 0 })

  for (let i = 0; i < COUNT; i++) {
    api.writePoint(new Point('room').tag('sensor', `s ${i % 7}`)
      .floatField('value', i / 2).intField('number', i)
      .stringField('by', 'influx "client"').timestamp(1700000000000 + i))
  }
  await api.close()

  const failing = new InfluxDB({ url: address, token })
    .getWriteApi('any', 'points', 'ms', { maxRetries: 0, writeFailed: () => {} })
  let status = 0
  failing.writeRecord('room value=wrong 5')
  await failing.close().catch(error => { status = error.statusCode })
  if (status !== 400) throw new Error(`a bad line has the status ${status}`)
}

elasticsearch().then(influx).then(() => console.log('fine'), error => {
  console.error(error)
  process.exit(1)
})
