import type { ProxySiteConfig } from '@kith/protocol'
import { headerKey, isSettableHeader } from '#infra/proxy/index.ts'
import { invalid } from '#lib/failure.ts'
import type { ProxySite } from './proxy-site.ts'

const advancedMembers = ['requestHeaders', 'responseHeaders', 'stripPrefix', 'healthPath'] as const
const nameForm = /^[!#$%&'*+.^`|~\w-]+$/
const valueForm = /^[\t\x20-\x7e]*$/

/** Fails with `E-VALIDATION` for unknown members, and for headers that the proxy sets itself. */
export function assertConfig({ type, config }: Pick<ProxySite, 'type' | 'config'>): void {
  const other = type === 'basic' ? advancedMembers.find((member) => config[member] !== undefined) : undefined
  if (other) throw invalid(`/config/${other}`, 'is for sites of the type advanced')
  assertHeaders(config, 'requestHeaders')
  assertHeaders(config, 'responseHeaders')
}

function assertHeaders(config: ProxySiteConfig, member: 'requestHeaders' | 'responseHeaders'): void {
  const path = `/config/${member}`
  const names = Object.keys(config[member] ?? {})
  const twice = names.find(
    (name, at) => names.findIndex((other) => headerKey(other) === headerKey(name)) < at,
  )
  if (twice !== undefined) throw invalid(path, `has ${twice} twice`)
  for (const [name, value] of Object.entries(config[member] ?? {})) {
    if (!nameForm.test(name)) throw invalid(path, 'has a name that no header can have')
    if (!isSettableHeader(name)) throw invalid(path, `must not set ${name}`)
    if (!valueForm.test(value)) throw invalid(path, `has a value for ${name} that no header can have`)
  }
}
