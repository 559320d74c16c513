import type { IdTag } from '@kith/protocol'

/** A domain, with all below it, that the whole server has nothing to do with. */
export interface DomainBlock {
  readonly domain: string
  readonly reason?: string
  readonly createdBy: IdTag
  /** Unix seconds. */
  readonly createdAt: number
}

/** The name itself and the domains above it, the nearest first. */
export function domainsAbove(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_, from) => labels.slice(from).join('.'))
}

/** Is this name the domain, or below it? */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}
