import type { IncomingMessage } from 'node:http'
import type { Contract } from '@kith/protocol'
import { formOf } from './methods.ts'

/** Gives requests that come as POST, because something on the way takes no other method, the one that they mean: where a
 * contract allows it, and only its own. */
export function createMethodOverride(
  contracts: readonly Pick<Contract, 'method' | 'path' | 'overridesPost'>[],
): (request: IncomingMessage) => void {
  const forms = contracts
    .filter(({ overridesPost }) => overridesPost)
    .map(({ method, path }) => ({ method, form: formOf(path) }))
  return (request) => {
    const meant = request.method === 'POST' && request.headers['x-http-method-override']
    if (typeof meant !== 'string') return
    const path = request.url?.split('?', 1)[0] ?? ''
    const found = forms.find(({ method, form }) => method === meant.toUpperCase() && form.test(path))
    if (found) request.method = found.method
  }
}
