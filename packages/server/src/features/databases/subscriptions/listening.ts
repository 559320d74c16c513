/** The client that has subscriptions. */
export interface Listening {
  readonly connId: string
  /** Sends what others did; a client that is too slow for it is ended. */
  push(text: string): void
  /** Ends a client that was told too much at once: it connects again. */
  overload(): void
}
