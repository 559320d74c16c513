import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { Metrics } from './metrics.ts'

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const workSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const transactionSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Makes the metrics of one server. Those of the process are shared by all servers in it. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const { requests, jobs, deliveries } = workHistograms(registers)
  return {
    requestServed({ method, route, status, durationMs }) {
      const labels = {
        method: methods.has(method) ? method : 'other',
        route: route ?? 'none',
        status: `${Math.floor(status / 100)}xx`,
      }
      requests.observe(labels, durationMs / 1000)
    },
    jobRan: (kind, outcome, durationMs) => jobs.observe({ kind, outcome }, durationMs / 1000),
    deliveryTried: (outcome, durationMs) => deliveries.observe({ outcome }, durationMs / 1000),
    ...databaseMetrics(registers),
    async scrape() {
      const all = Registry.merge([registry, processRegistry()])
      return { contentType: all.contentType, text: await all.metrics() }
    },
  }
}

function workHistograms(registers: Registry[]) {
  const requests = new Histogram({
    name: 'kith_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestSeconds,
    registers,
  })
  const jobs = new Histogram({
    name: 'kith_job_duration_seconds',
    help: 'Time of one attempt at a job.',
    labelNames: ['kind', 'outcome'],
    buckets: workSeconds,
    registers,
  })
  const deliveries = new Histogram({
    name: 'kith_delivery_duration_seconds',
    help: 'Time of one attempt to deliver an action to another server.',
    labelNames: ['outcome'],
    buckets: workSeconds,
    registers,
  })
  return { requests, jobs, deliveries }
}

function databaseMetrics(registers: Registry[]): Pick<Metrics, 'transactionEnded' | 'batchCommitted'> {
  const transactions = new Histogram({
    name: 'kith_db_transaction_duration_seconds',
    help: 'Time from asking for a transaction until it is durable or undone.',
    labelNames: ['outcome'],
    buckets: transactionSeconds,
    registers,
  })
  const batches = new Histogram({
    name: 'kith_db_commit_transactions',
    help: 'Transactions that shared one commit.',
    buckets: batchSizes,
    registers,
  })
  return {
    transactionEnded: (outcome, durationMs) => transactions.observe({ outcome }, durationMs / 1000),
    batchCommitted: (count) => batches.observe(count),
  }
}

let processMetrics: Registry | undefined

/** CPU, memory, garbage collection, open files and the delay of the event loop. Their observers run as long as the
 * process does, so there is one set of them however many servers a test starts. */
function processRegistry(): Registry {
  if (!processMetrics) {
    processMetrics = new Registry()
    collectDefaultMetrics({ register: processMetrics, eventLoopMonitoringPrecision: 20 })
  }
  return processMetrics
}
