import { connectDocument } from '@kith/client/crdt'
import type { Given } from './given.ts'

export async function example({ baseUrl, fileId, token, showState }: Given) {
  const document = connectDocument({ baseUrl, fileId, token, onState: (state) => showState(state) })
  await document.loaded()
  document.doc.getText('body').insert(0, 'Hello')
  await document.saved()
  return [document]
}
