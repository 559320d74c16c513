import { createStore } from '#lib/store.ts'

/** A file on its way to the server. */
export interface Upload {
  readonly id: number
  readonly name: string
  readonly size: number
  readonly type: string
  /** `absent`: the page was left, and this device has not kept the bytes. */
  readonly state: 'waiting' | 'sending' | 'paused' | 'done' | 'failed' | 'absent'
  readonly sentBytes: number
  /** Why it failed. */
  readonly error?: unknown
}

interface Uploads {
  readonly items: readonly Upload[]
  readonly isPaused: boolean
  /** Without a connection, or while the server is busy, nothing is sent; it goes on by itself. */
  readonly isInterrupted: boolean
  /** Bytes per second of the last seconds; 0 where it is not known. */
  readonly rate: number
}

export const noUploads: Uploads = { items: [], isPaused: false, isInterrupted: false, rate: 0 }

/** The uploads of this tab. The queue that sends them is loaded with the first of them. */
export const uploads = createStore<Uploads>(noUploads)

/** Where uploads are kept over a change of page. */
export const uploadsDatabase = 'kith-uploads'

const keptName = 'kith-uploads'

/** Whether a page that was left may have uploads that go on: only then is their code loaded at the start. */
export function mayHaveUploads(): boolean {
  try {
    return localStorage.getItem(keptName) !== null
  } catch {
    return false
  }
}

export function noteUploadsKept(): void {
  try {
    localStorage.setItem(keptName, '1')
  } catch {
    // Without storage nothing was kept either.
  }
}

export function forgetUploadsKept(): void {
  try {
    localStorage.removeItem(keptName)
  } catch {
    // As above.
  }
}
