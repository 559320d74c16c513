/** A column with secrets of tenants, sealed by the vault. They open only with this server's master key and for this
 * tenant: an export seals them anew, or leaves them out. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** What the vault seals them for. */
  readonly purpose: string
  /** What becomes of a row whose secret does not come along: it stays without it, gets a fresh one of 32 random bytes, or
   * is worth nothing and stays behind. */
  readonly withoutSecret: 'nothing' | 'fresh' | 'no row'
}
