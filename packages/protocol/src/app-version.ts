const number = '(?:0|[1-9]\\d*)'
const preRelease = `(?:${number}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`

/** Versions of apps: SemVer 2.0. */
export const appVersionPattern = `^${number}\\.${number}\\.${number}(?:-${preRelease}(?:\\.${preRelease})*)?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`
export const maxAppVersionLength = 64

const versionForm = new RegExp(appVersionPattern)
const numeric = /^\d+$/

/** Precedence of two versions (SemVer 2.0, section 11): below 0 when `a` comes first. Build metadata does not count. */
export function compareAppVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  return (
    compareLists(left.release, right.release) ||
    // A version with a pre-release comes before the one without.
    Number(left.pre.length === 0) - Number(right.pre.length === 0) ||
    compareLists(left.pre, right.pre)
  )
}

/** Is it a version by SemVer 2.0? */
export function isAppVersion(text: string): boolean {
  return text.length <= maxAppVersionLength && versionForm.test(text)
}

function partsOf(version: string): { readonly release: string[]; readonly pre: string[] } {
  const [withoutBuild = ''] = version.split('+')
  const dash = withoutBuild.indexOf('-')
  const release = dash === -1 ? withoutBuild : withoutBuild.slice(0, dash)
  return { release: release.split('.'), pre: dash === -1 ? [] : withoutBuild.slice(dash + 1).split('.') }
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [at, part] of a.entries()) {
    const other = b[at]
    if (other === undefined) return 1
    const order = compareParts(part, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareParts(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [numeric.test(a), numeric.test(b)]
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  // Numbers have no leading zeros, and may be longer than what a double holds.
  if (isNumber && a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
