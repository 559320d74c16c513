import { hash, randomBytes } from 'node:crypto'
import type { QrStatus } from '@kith/protocol'

/** A device that asks to be signed in by another one. */
export interface QrSession {
  readonly sessionId: string
  readonly secretHash: string
  readonly answer?: 'approved' | 'denied'
  /** The session in which it was approved. */
  readonly approvedIn?: string
  /** `login` has been handed out. */
  readonly isDelivered: boolean
  readonly createdAt: number
  readonly expiresAt: number
  readonly ip: string
  /** The address as it counts where sessions are limited. */
  readonly network: string
  readonly userAgent?: string
}

export const qrLifeSecs = 300

export function newQrSession() {
  return { sessionId: randomBytes(16).toString('base64url'), secret: randomBytes(32).toString('base64url') }
}

/** An answer given in time stays; it can be fetched until the session ends. */
export function statusOf({ answer, expiresAt }: QrSession, now: number): QrStatus {
  return expiresAt <= now ? 'expired' : (answer ?? 'pending')
}

const codes = 1_000_000

/** Six digits that both devices show. A person compares them, so that nobody agrees to a device that they do not see. */
export function codeOf(sessionId: string): string {
  const start = hash('sha256', `qr code\n${sessionId}`, 'buffer').readUIntBE(0, 6)
  return String(start % codes).padStart(6, '0')
}
