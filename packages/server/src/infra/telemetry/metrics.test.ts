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
