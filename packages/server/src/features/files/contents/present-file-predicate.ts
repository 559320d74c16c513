/** Whether the file of a row of this table is there: what a document or database held goes a while after it. In portable SQL. */
export function isOfPresentFile(table: string): string {
  return `exists (select 1 from files where files.tenant_id = ${table}.tenant_id and files.file_id = ${table}.file_id)`
}
