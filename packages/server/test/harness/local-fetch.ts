import { Agent, fetch as undiciFetch } from 'undici'

/** `fetch` for names under `.localhost`, which not every resolver knows (RFC 6761): they are this machine, at this
 * address of it. */
export function localFetch(address = '127.0.0.1'): typeof fetch {
  const agent = new Agent({
    connect: {
      lookup: (_name, options, done) =>
        options.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4),
    },
  })
  const local = (input: string, init: object = {}) => undiciFetch(input, { ...init, dispatcher: agent })
  return local as unknown as typeof fetch
}
