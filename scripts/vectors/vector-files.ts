import { actionMemberVectors } from './action-member-vectors.ts'
import { actionOutcomeVectors } from './action-outcome-vectors.ts'
import { actionTokenVectors } from './action-token-vectors.ts'
import { cursorVectors } from './cursor-vectors.ts'
import { actionIdVectors, fileIdVectors, idTagVectors, referenceIdVectors } from './id-vectors.ts'
import { logoutTokenVectors, proxyTokenVectors } from './identity-token-vectors.ts'
import { type Parts, Signer, untold } from './signing.ts'

const files: Record<string, (signer: Signer) => unknown> = {
  'tokens/action-tokens.json': actionTokenVectors,
  'tokens/proxy-tokens.json': proxyTokenVectors,
  'tokens/logout-tokens.json': logoutTokenVectors,
  'actions/members.json': actionMemberVectors,
  'actions/outcomes.json': actionOutcomeVectors,
  'ids/id-tags.json': idTagVectors,
  'ids/action-ids.json': actionIdVectors,
  'ids/file-ids.json': fileIdVectors,
  'ids/reference-ids.json': referenceIdVectors,
  'cursors/cursors.json': cursorVectors,
}

/** The generated files below `vectors` with their texts. Signatures that a present file has are kept. */
export async function vectorFiles(
  readPresent: (path: string) => Promise<string | undefined>,
): Promise<Map<string, string>> {
  const made = new Map<string, string>()
  for (const [path, make] of Object.entries(files)) {
    const signer = new Signer(tokensIn(JSON.parse((await readPresent(path)) ?? 'null')))
    made.set(path, `${JSON.stringify(make(signer), null, 2)}\n`)
  }
  return made
}

/** All tokens in a file of vectors, wherever they stand. */
function tokensIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { token, parts } = value as { readonly token?: unknown; readonly parts?: Parts }
  const own = typeof token === 'string' || Array.isArray(parts) ? [untold(value)] : []
  return [...own, ...Object.values(value).flatMap(tokensIn)]
}
