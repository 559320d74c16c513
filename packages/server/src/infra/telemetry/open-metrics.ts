import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Metrics } from './metrics.ts'
import { openServerCounts } from './server-counts.ts'

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const workSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const transactionSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

interface Build {
  readonly version: string
  readonly commit?: string | undefined
}

/** Makes the metrics of one server. Those of the process are shared by all servers in it. */
export function openMetrics(build?: Build): Metrics {
  const registry = new Registry()
  const registers = [registry]
  if (build) tellBuild(build, registers)
  const { requests, jobs, deliveries } = workHistograms(registers)
  const serverCounts = openServerCounts()
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
    ...outsideMetrics(registers),
    ...databaseMetrics(registers),
    followCounts: serverCounts.follow,
    followSockets: socketsGauge(registers),
    certificates: certificateGauges(registers),
    async scrape() {
      const counts = await serverCounts.read()
      const all = Registry.merge([registry, counts, processRegistry()])
      return { contentType: all.contentType, text: await all.metrics() }
    },
  }
}

function socketsGauge(registers: Registry[]): Metrics['followSockets'] {
  let count = () => 0
  new Gauge({
    name: 'kith_sockets',
    help: 'Open WebSockets of this process.',
    registers,
    collect() {
      this.set(count())
    },
  })
  return (read) => {
    count = read
  }
}

/** A gauge that is 1, as is usual: the labels are what it tells. */
function tellBuild({ version, commit = '' }: Build, registers: Registry[]): void {
  const labels = { version, commit, node: process.versions.node }
  const help = 'The program that runs.'
  new Gauge({ name: 'kith_build_info', help, labelNames: Object.keys(labels), registers }).set(labels, 1)
}

function certificateGauges(registers: Registry[]): Metrics['certificates'] {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const names = gauge('kith_certificate_names', 'Names that this server needs certificates for.')
  const missing = gauge('kith_certificates_missing', 'Names without a certificate.')
  const failing = gauge('kith_certificates_failing', 'Names whose last attempt to get a certificate failed.')
  const firstEnd = gauge(
    'kith_certificate_first_expiry_timestamp_seconds',
    'When the first certificate ends; 0 where there is none.',
  )
  return (counts) => {
    names.set(counts.names)
    missing.set(counts.missing)
    failing.set(counts.failing)
    firstEnd.set(counts.firstEnd ?? 0)
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

/** What others ask of the server, and it of them, beside requests and deliveries. */
function outsideMetrics(
  registers: Registry[],
): Pick<Metrics, 'pushTried' | 'dnsAnswered' | 'dnsLimited' | 'proxySitesChecked' | 'proxyRefused'> {
  const pushes = new Counter({
    name: 'kith_push_messages_total',
    help: 'Attempts to send a notification to a push service.',
    labelNames: ['outcome'],
    registers,
  })
  const dnsAnswers = new Counter({
    name: 'kith_dns_answers_total',
    help: 'Answers to DNS questions about the names of identity providers.',
    labelNames: ['rcode', 'transport'],
    registers,
  })
  const dnsLimited = new Counter({
    name: 'kith_dns_limited_total',
    help: 'DNS questions over UDP above the limits: sent to TCP, or not answered.',
    labelNames: ['outcome'],
    registers,
  })
  const refusals = new Counter({
    name: 'kith_proxy_refusals_total',
    help: 'Requests for proxy sites that the server answered itself, or broke off, by status.',
    labelNames: ['status'],
    registers,
  })
  return {
    pushTried: (outcome) => pushes.inc({ outcome }),
    dnsAnswered: (rcode, transport) => dnsAnswers.inc({ rcode, transport }),
    dnsLimited: (outcome) => dnsLimited.inc({ outcome }),
    proxyRefused: (status) => refusals.inc({ status: String(status) }),
    proxySitesChecked: sitesGauges(registers),
  }
}

function sitesGauges(registers: Registry[]): Metrics['proxySitesChecked'] {
  const up = new Gauge({
    name: 'kith_proxy_sites_up',
    help: 'Proxy sites whose backends passed their last check.',
    registers,
  })
  const down = new Gauge({
    name: 'kith_proxy_sites_down',
    help: 'Proxy sites whose backends failed their last check.',
    registers,
  })
  return (sites) => {
    up.set(sites.up)
    down.set(sites.down)
  }
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
