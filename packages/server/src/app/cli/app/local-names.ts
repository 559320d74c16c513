import { Agent, fetch as undiciFetch } from 'undici'

/** `fetch` for a server. Names below `.localhost` are this machine (RFC 6761), which not every resolver knows. */
export function fetchFrom(server: string): typeof fetch {
  if (!new URL(server).hostname.endsWith('.localhost')) return fetch
  const agent = new Agent({
    connect: {
      lookup: (_name, options, done) =>
        options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
    },
  })
  const local = (input: string, init: object = {}) => undiciFetch(input, { ...init, dispatcher: agent })
  return local as unknown as typeof fetch
}
