const numeric = /^\d+$/
const endOfList = ' '
const endOfWord = '!'
// Both come after all that a pre-release begins with.
const noPreRelease = '~'

/** A text by which a database puts versions in the order of their precedence (SemVer 2.0, section 11), when it compares
 * bytes. */
export function versionOrder(version: string): string {
  const [withoutBuild = ''] = version.split('+')
  const dash = withoutBuild.indexOf('-')
  const release = dash === -1 ? withoutBuild : withoutBuild.slice(0, dash)
  const numbers = release.split('.').map(orderOfNumber).join('')
  if (dash === -1) return numbers + noPreRelease
  const words = withoutBuild
    .slice(dash + 1)
    .split('.')
    .map((word) => (numeric.test(word) ? `0${orderOfNumber(word)}` : `a${word}${endOfWord}`))
  return numbers + words.join('') + endOfList
}

/** Of two numbers the one with more digits is larger. They have 60 digits at most. */
function orderOfNumber(digits: string): string {
  return String.fromCharCode(0x30 + digits.length) + digits
}
