import { type Config, ConfigError } from '#infra/config/index.ts'

/** Throws a `ConfigError` for what the configuration asks and this version cannot do: a server that left it out would
 * answer without TLS, or not at all. */
export function assertSupported({ tls, dnsListen }: Pick<Config, 'tls' | 'dnsListen'>): void {
  const problems: ConfigError['problems'][number][] = []
  if (tls.kind !== 'off')
    problems.push({ variable: 'TLS', message: 'must be off in this version: let a proxy in front end TLS' })
  if (dnsListen)
    problems.push({ variable: 'DNS_LISTEN', message: 'must be empty in this version: it answers no DNS' })
  if (problems.length > 0) throw new ConfigError(problems)
}
