import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openMetrics } from './index.ts'

const lines = async (metrics: ReturnType<typeof openMetrics>, name: string) =>
  (await metrics.scrape()).text.split('\n').filter((line) => line.startsWith(name))

test('requests are counted by method, template and class of status', async () => {
  const metrics = openMetrics()
  metrics.requestServed({ method: 'GET', route: '/api/files/{fileId}', status: 200, durationMs: 4 })
  metrics.requestServed({ method: 'GET', route: '/api/files/{fileId}', status: 206, durationMs: 40 })
  metrics.requestServed({ method: 'GET', route: '/api/files/{fileId}', status: 404, durationMs: 1 })
  expect(await lines(metrics, 'kith_http_request_duration_seconds_count')).toEqual([
    'kith_http_request_duration_seconds_count{method="GET",route="/api/files/{fileId}",status="2xx"} 2',
    'kith_http_request_duration_seconds_count{method="GET",route="/api/files/{fileId}",status="4xx"} 1',
  ])
  expect(await lines(metrics, 'kith_http_request_duration_seconds_sum')).toContain(
    'kith_http_request_duration_seconds_sum{method="GET",route="/api/files/{fileId}",status="2xx"} 0.044',
  )
})

test('the program is told as labels', async () => {
  const [line] = await lines(openMetrics({ version: '1.2.3', commit: 'abc' }), 'kith_build_info{')
  expect(line).toBe(`kith_build_info{version="1.2.3",commit="abc",node="${process.versions.node}"} 1`)
})

test('what strangers choose makes no new series', async () => {
  const metrics = openMetrics()
  for (let at = 0; at < 50; at += 1)
    metrics.requestServed({ method: `M${at}`, route: undefined, status: 404, durationMs: 1 })
  expect(await lines(metrics, 'kith_http_request_duration_seconds_count')).toEqual([
    'kith_http_request_duration_seconds_count{method="other",route="none",status="4xx"} 50',
  ])
})

test('jobs, deliveries, transactions and batches are counted', async () => {
  const metrics = openMetrics()
  metrics.jobRan('make-variants', 'done', 1500)
  metrics.deliveryTried('retry', 20)
  metrics.transactionEnded('committed', 2)
  metrics.batchCommitted(7)
  const { text, contentType } = await metrics.scrape()
  expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(text).toContain('kith_job_duration_seconds_sum{kind="make-variants",outcome="done"} 1.5')
  expect(text).toContain('kith_delivery_duration_seconds_count{outcome="retry"} 1')
  expect(text).toContain('kith_db_transaction_duration_seconds_sum{outcome="committed"} 0.002')
  expect(text).toContain('kith_db_commit_transactions_bucket{le="8"} 1')
  expect(text).toContain('kith_db_commit_transactions_bucket{le="4"} 0')
})

test('pushes, questions and refusals are counted', async () => {
  const metrics = openMetrics()
  metrics.pushTried('removed')
  metrics.dnsAnswered('REFUSED', 'udp')
  metrics.dnsLimited('dropped')
  metrics.proxyRefused(502)
  metrics.proxySitesChecked({ up: 3, down: 1 })
  const { text } = await metrics.scrape()
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'kith_push_messages_total{outcome="removed"} 1',
      'kith_dns_answers_total{rcode="REFUSED",transport="udp"} 1',
      'kith_dns_limited_total{outcome="dropped"} 1',
      'kith_proxy_refusals_total{status="502"} 1',
      'kith_proxy_sites_up 3',
      'kith_proxy_sites_down 1',
    ]),
  )
})

test('what the whole server counts is read with each scrape, once for all who scrape together', async () => {
  const metrics = openMetrics()
  let reads = 0
  let isAway = false
  metrics.followCounts(async () => {
    reads += 1
    if (isAway) throw new Error('the database is away')
    return {
      tenants: { active: 4, suspended: 1 },
      people: { activeIn7Days: 3, activeIn30Days: 4 },
      storage: { usedBytes: 2048, files: 2 },
      freeBytes: 1_000_000,
      databaseBytes: 40_960,
      jobs: [{ kind: 'outbox.deliver', waiting: 7, running: 2, failed: 3 }],
    }
  })
  const [{ text }] = await Promise.all([metrics.scrape(), metrics.scrape()])
  expect(reads).toBe(1)
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'kith_tenants{status="active"} 4',
      'kith_tenants{status="suspended"} 1',
      'kith_active_people{days="7"} 3',
      'kith_active_people{days="30"} 4',
      'kith_storage_bytes 2048',
      'kith_storage_files 2',
      'kith_disk_free_bytes 1000000',
      'kith_database_size_bytes 40960',
      'kith_jobs{kind="outbox.deliver",state="waiting"} 7',
      'kith_jobs{kind="outbox.deliver",state="running"} 2',
      'kith_jobs{kind="outbox.deliver",state="failed"} 3',
    ]),
  )
  isAway = true
  metrics.batchCommitted(1)
  expect(await lines(metrics, 'kith_jobs')).toEqual([])
  expect(await lines(metrics, 'kith_db_commit_transactions_count')).toHaveLength(1)
})

test('open sockets are counted with each scrape', async () => {
  const metrics = openMetrics()
  expect(await lines(metrics, 'kith_sockets')).toEqual(['kith_sockets 0'])
  let open = 3
  metrics.followSockets(() => open)
  expect(await lines(metrics, 'kith_sockets')).toEqual(['kith_sockets 3'])
  open = 1
  expect(await lines(metrics, 'kith_sockets')).toEqual(['kith_sockets 1'])
})

test('two servers in one process count apart and share the process', async () => {
  const [first, second] = [openMetrics(), openMetrics()]
  first.batchCommitted(1)
  expect(await lines(first, 'kith_db_commit_transactions_count')).toEqual([
    'kith_db_commit_transactions_count 1',
  ])
  expect(await lines(second, 'kith_db_commit_transactions_count')).toEqual([
    'kith_db_commit_transactions_count 0',
  ])
  for (const metrics of [first, second])
    expect(await lines(metrics, 'process_cpu_seconds_total')).toHaveLength(1)
})

test('the delay of the event loop shows when something holds it up', async () => {
  const metrics = openMetrics()
  await metrics.scrape()
  await wait(50)
  const untilMs = performance.now() + 200
  while (performance.now() < untilMs);
  await wait(50)
  const [line = ''] = await lines(metrics, 'nodejs_eventloop_lag_max_seconds')
  expect(Number(line.split(' ')[1])).toBeGreaterThan(0.15)
})
