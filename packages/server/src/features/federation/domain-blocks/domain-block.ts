import type { IdTag } from '@kith/protocol'

/** A blocked domain, with all below it: the whole server exchanges nothing with it. */
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
