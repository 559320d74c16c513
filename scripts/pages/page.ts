/** A generated document that is kept in the repository. */
export interface Page {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  render(): string | Promise<string>
}
