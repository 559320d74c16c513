import type { SocketContract } from './socket-contract.ts'

/** The bus (docs/protocol/realtime.md), for identities alone; it refuses tokens for single files itself. */
export const busSocket = {
  name: 'openBus',
  path: '/ws/bus',
  summary: 'Events of a tenant, for the devices of its account and for its visitors',
  auth: 'required',
  frames: 'text',
  // A person with several open windows sends a handful; this is for loops.
  messagesPerMinute: 300,
} as const satisfies SocketContract

/** How long events are kept for clients that reconnect, in seconds, and how many at most. */
export const busWindow = { seconds: 7 * 24 * 60 * 60, events: 1000 } as const
