/** What becomes of an update: it brought something, it was known already, it cannot be read, or the document has no room. */
export type UpdateOutcome = 'new' | 'known' | 'malformed' | 'full'

/** What a thread is asked; `doc` is the number that the asking side gave a document. */
export type EngineRequest =
  /** The pieces of a document in their order: a state first, if there is one, then updates. */
  | { readonly kind: 'open'; readonly doc: number; readonly pieces: readonly Uint8Array[] }
  /** Updates larger than `room` bytes are looked at for what is new in them. */
  | {
      readonly kind: 'apply'
      readonly doc: number
      readonly updates: readonly Uint8Array[]
      readonly room: number
      /** Of the server itself: may take as long as opening. */
      readonly isTrusted?: boolean
    }
  | { readonly kind: 'diff'; readonly doc: number; readonly stateVector: Uint8Array }
  | { readonly kind: 'vector' | 'state' | 'compact' | 'close'; readonly doc: number }
  | { readonly kind: 'restore'; readonly doc: number; readonly past: Uint8Array }

/** How updates were taken. */
export interface Applied {
  readonly outcomes: readonly UpdateOutcome[]
  /** Those that are new, as one; of a single one the bytes as they came. */
  readonly merged: Uint8Array | undefined
  /** The update at this index has left the document half changed: it has to be opened anew. */
  readonly brokenAt: number | undefined
}

/** The state of a document, and what became of it when it was opened for a trial. */
export interface CompactState {
  readonly state: Uint8Array
  /** Was that the same document? */
  readonly isSound: boolean
  /** What opening took, in milliseconds of a processor. */
  readonly openMs: number
}

/** The answers, by the kind of the request. */
export interface EngineAnswers {
  /** The indexes of pieces that cannot be read; they were left out. */
  readonly open: { readonly damaged: readonly number[] }
  readonly apply: Applied
  /** In one update or more. Undefined: what was sent cannot be read. */
  readonly diff: readonly Uint8Array[] | undefined
  readonly vector: Uint8Array
  readonly state: Uint8Array
  readonly compact: CompactState
  readonly restore: Uint8Array | undefined
  readonly close: undefined
}
export type EngineAnswer = EngineAnswers[keyof EngineAnswers]

/** A message of a thread: that it is ready, then the answers in the order of the requests. */
export interface ThreadMessage {
  readonly answer: EngineAnswer | 'ready'
  /** The error message, where the request failed. */
  readonly error?: string
  /** The processor time of the thread since its start, in milliseconds. */
  readonly processorMs: number
}
