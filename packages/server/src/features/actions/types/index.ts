import type { ActionTypeName } from '@kith/protocol'
import { ack } from './ack.ts'
import { apkg } from './apkg.ts'
import { cmnt } from './cmnt.ts'
import { conn } from './conn.ts'
import { fllw } from './fllw.ts'
import { fshr } from './fshr.ts'
import { invt } from './invt.ts'
import { msg } from './msg.ts'
import { post } from './post.ts'
import { react } from './react.ts'
import { repost } from './repost.ts'
import { shre } from './shre.ts'
import type { TypeHooks } from './type-hooks.ts'

const hooks: Record<ActionTypeName, TypeHooks> = {
  POST: post,
  CMNT: cmnt,
  REPOST: repost,
  SHRE: shre,
  FLLW: fllw,
  CONN: conn,
  MSG: msg,
  FSHR: fshr,
  REACT: react,
  ACK: ack,
  INVT: invt,
  APKG: apkg,
}

export function hooksOf(type: ActionTypeName): TypeHooks {
  return hooks[type]
}
