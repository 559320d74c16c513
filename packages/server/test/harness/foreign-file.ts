import { createHash } from 'node:crypto'
import type { FileId } from '@kith/protocol'
import type { ForeignServer } from './foreign-server.ts'
import { labBytes } from './test-seed.ts'

interface ServedFile {
  readonly content: Buffer
  /** What comes instead of the content. */
  readonly sent?: Buffer
  /** Members of the descriptor that say something else. */
  readonly described?: Readonly<Record<string, unknown>>
}

/** Lets a foreign server answer every request for a file with this one, described as its owner's server would. */
export function serveFile(
  foreign: ForeignServer,
  { content, sent = content, described = {} }: ServedFile,
): FileId {
  const saltBytes = labBytes(16)
  const hash = createHash('sha256').update(content).digest()
  const [salt, sha256] = [saltBytes.toString('base64url'), hash.toString('base64url')]
  const commitment = createHash('sha256').update('blob').update(saltBytes).update(hash)
  const fileId = `b1~${commitment.digest('base64url')}` as FileId
  const contentType = 'image/jpeg'
  const descriptor = { fileId, contentType, fileName: 'photo.jpg', size: content.length, variants: [] }
  const data = { ...descriptor, createdAt: '2026-01-01T00:00:00.000Z', sha256, salt, ...described }
  foreign.onRequest = ({ url = '' }, answer) => {
    if (url.endsWith('/descriptor'))
      answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
    else answer.writeHead(200, { 'content-type': contentType }).end(sent)
  }
  return fileId
}
