import { lookup, Resolver } from 'node:dns/promises'
import { errorCode } from '#lib/system-error.ts'
import type { DnsAnswer, DnsResolver } from './dns-resolver.ts'

interface DnsOptions {
  /** `ip:port` or `ip`; the system's when absent or empty. */
  readonly servers?: readonly string[]
  /** One question with all its tries; 5 s when absent. */
  readonly timeoutMs?: number
  /** Also asks the operating system (hosts file, mDNS) for the address of a name that the DNS does not know. For
   * private networks only: it runs on the thread pool that files and passwords need. */
  readonly systemNames?: boolean
}

// More records than any honest name has; the rest is not looked at.
const maxRecords = 32
const triesPerServer = 2

// BADNAME and NONAME: the name cannot exist. The other codes say nothing of the name.
const notFoundCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME'])

/** Makes a resolver that asks DNS servers itself, without the thread pool of `getaddrinfo`. */
export function createDnsResolver(options: DnsOptions = {}): DnsResolver {
  const timeoutMs = options.timeoutMs ?? 5000
  const tryMs = Math.max(100, Math.floor(timeoutMs / (triesPerServer + 1)))
  const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries: triesPerServer })
  if (options.servers?.length) resolver.setServers(options.servers)

  const ask = (question: Promise<readonly string[]>) => answerWithin(question, timeoutMs)
  return {
    resolveTxt: (name) =>
      ask(resolver.resolveTxt(name).then((records) => records.map((strings) => strings.join('')))),
    resolveCname: (name) => ask(resolver.resolveCname(name)),
    resolveSerial: (zone) => ask(resolver.resolveSoa(zone).then(({ serial }) => [String(serial)])),
    async resolveAddresses(name) {
      const answers = await Promise.all([ask(resolver.resolve6(name)), ask(resolver.resolve4(name))])
      const answer = both(answers)
      return answer.kind === 'not-found' && options.systemNames ? ask(systemAddresses(name)) : answer
    },
  }
}

/** A name with addresses of one family has those, whatever became of the other question. */
function both(answers: readonly DnsAnswer[]): DnsAnswer {
  const records = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []))
  if (records.length > 0) return { kind: 'found', records }
  return answers.find((answer) => answer.kind === 'unreachable') ?? { kind: 'not-found' }
}

async function systemAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

async function answerWithin(question: Promise<readonly string[]>, timeoutMs: number): Promise<DnsAnswer> {
  let timer: NodeJS.Timeout | undefined
  // Servers are tried one after the other, so that a long list of dead ones takes longer than one question may.
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    const records = await Promise.race([question, tooLate])
    return records.length > 0
      ? { kind: 'found', records: records.slice(0, maxRecords) }
      : { kind: 'not-found' }
  } catch (cause) {
    return notFoundCodes.has(errorCode(cause)) ? { kind: 'not-found' } : { kind: 'unreachable', cause }
  } finally {
    clearTimeout(timer)
  }
}
