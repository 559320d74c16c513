/** Makes the object of one row from its values. */
export type RowMaker = (values: readonly unknown[]) => unknown

// Anything else (an expression without an alias) is put in by the loop.
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The fastest way to make rows with these columns. SQLite hands over rows as arrays a third faster than as objects;
 * a function written for the statement turns them into objects at no cost that could be measured, a shared loop
 * would lose what was gained. Only plain column names of the program's own statements get into its text. */
export function rowMaker(columns: readonly string[]): RowMaker {
  if (!columns.every((name) => plainName.test(name) && name !== '__proto__')) return loopingMaker(columns)
  const members = columns.map((name, index) => `${name}: values[${index}]`)
  return new Function('values', `return { ${members.join(', ')} }`) as RowMaker
}

function loopingMaker(columns: readonly string[]): RowMaker {
  return (values) => Object.fromEntries(columns.map((name, index) => [name, values[index]]))
}
