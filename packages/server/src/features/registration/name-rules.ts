import type { IdTag } from '@kith/protocol'
import { isLookAlike, readingsOf } from './look-alike.ts'

/** How a name is asked for: one below this server's own domain, or a domain of the asker's. A community may
 * have either. */
export type NameKind = 'idp' | 'domain' | 'community'

interface NameRules {
  readonly baseIdTag: IdTag
  /** Labels that are reserved below the server's own domain. */
  readonly reserved: readonly string[]
  /** Names of the machine itself. */
  readonly ownHosts: readonly string[]
}

// Each label costs a question; no name that people give each other has so many.
const maxLabels = 10

/** The labels of a name below a domain, the lowest first; undefined when it is not below it. */
export function labelsBelow(name: string, domain: string): string[] | undefined {
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1).split('.') : undefined
}

export function isLocalName(name: string): boolean {
  return name.endsWith('.localhost')
}

/** Why this server never gives the name, to any asker; undefined when it may. */
export function refusalOf(idTag: IdTag, kind: NameKind, rules: NameRules): string | undefined {
  const { baseIdTag, ownHosts } = rules
  const ownLabels = labelsBelow(idTag, baseIdTag)
  if (kind === 'idp' && !ownLabels) return `This server gives names below ${baseIdTag}.`
  if (idTag.split('.').length > maxLabels) return `A name has at most ${maxLabels} parts.`
  if (ownHosts.includes(idTag)) return 'This is a name of the server itself.'
  // It would be the local machine for every reader.
  if (isLocalName(idTag) && !isLocalName(baseIdTag)) return 'Names under .localhost are not for the network.'
  return ownLabels && labelRefusal(ownLabels, rules)
}

function labelRefusal(labels: readonly string[], { reserved }: NameRules): string | undefined {
  if (labels.some((label) => readingsOf(label).some((reading) => reserved.includes(reading))))
    return 'This name is reserved.'
  return labels.some(isLookAlike) ? 'This name can be taken for another one.' : undefined
}
