import type { RtdbErrorCode } from '@kith/protocol'

/** What a request is answered with instead of its result (docs/protocol/realtime.md). */
export class RtdbFailure extends Error {
  readonly code: RtdbErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: RtdbErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message)
    this.name = 'RtdbFailure'
    this.code = code
    this.details = details
  }
}
