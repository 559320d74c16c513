interface Person {
  readonly idTag: string
  readonly baseUrl: string
  readonly token: string
}

/** The names that the examples of the client's README use without declaring them. */
export interface Given {
  readonly baseUrl: string
  readonly fileId: string
  readonly token: string
  readonly alice: Person
  readonly bob: Person
  readonly seenBefore: number
  show(...shown: unknown[]): void
  showState(state: object): void
  reload(): void
}
