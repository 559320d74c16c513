/** A column with secrets of tenants, sealed by the vault. They open only with this server's master key and for this
 * tenant: an export seals them anew, or leaves them out. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** What the vault seals them for. */
  readonly purpose: string
  /** What an import does with a row whose secret was left out: it keeps the row without one, gives it 32 random bytes, or
   * leaves the row out. */
  readonly withoutSecret: 'nothing' | 'fresh' | 'no row'
}
