import { createClient } from '@kith/client'
import { connectDatabase } from '@kith/client/rtdb'
import { createFile, createShare } from '@kith/protocol'
import type { Given } from './given.ts'

export async function example({ alice, bob, show }: Given) {
  const client = createClient(alice)
  const { data: file } = await client.call(createFile, { body: { fileTp: 'RTDB', fileName: 'To do' } })
  const share = { subjectType: 'U', subjectId: bob.idTag, permission: 'W' } as const
  await client.call(createShare, { params: { fileId: file.fileId }, body: share })

  const hers = connectDatabase({ ...alice, fileId: file.fileId })
  const his = connectDatabase({ ...bob, at: alice.idTag, fileId: file.fileId })
  his.collection('tasks').onChange((tasks) => show(tasks))
  await hers.collection('tasks').add({ title: 'Buy milk' })
  return [hers, his]
}
