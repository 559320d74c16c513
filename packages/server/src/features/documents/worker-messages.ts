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
    }
  | { readonly kind: 'diff'; readonly doc: number; readonly stateVector: Uint8Array }
  | { readonly kind: 'vector' | 'state' | 'close'; readonly doc: number }
  | { readonly kind: 'restore'; readonly doc: number; readonly past: Uint8Array }

/** How updates were taken. */
export interface Applied {
  readonly outcomes: readonly UpdateOutcome[]
  /** Those that are new, as one; of a single one the bytes as they came. */
  readonly merged: Uint8Array | undefined
  /** The update at this index has left the document half changed: it has to be opened anew. */
  readonly brokenAt: number | undefined
}

/** The answers, by the kind of the request. */
export interface EngineAnswers {
  /** The indexes of pieces that cannot be read; they were left out. */
  readonly open: { readonly damaged: readonly number[] }
  readonly apply: Applied
  /** Undefined: what was sent cannot be read. */
  readonly diff: Uint8Array | undefined
  readonly vector: Uint8Array
  readonly state: Uint8Array
  readonly restore: Uint8Array | undefined
  readonly close: undefined
}
export type EngineAnswer = EngineAnswers[keyof EngineAnswers]
