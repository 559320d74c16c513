import { type RtdbOperation, rtdbLimits } from '@kith/protocol'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { newDocumentId } from './new-document-id.ts'
import { parsePath, type RtdbPath } from './paths.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { isJsonObject, isTooDeep, type JsonObject } from './values.ts'

/** An operation whose document is known: ids are made, and references replaced. */
export interface PreparedOperation {
  readonly type: RtdbOperation['type']
  /** Of the document, that of `create` included. */
  readonly path: RtdbPath
  readonly data: JsonObject
  readonly ref: string | null
  /** Replaces references in a path that is computed with. */
  readonly resolve: (path: string) => string
}

/** The documents that are made in a transaction, by their refs, and how many had one before. */
type Refs = Map<string, { readonly id: string; readonly place: number }>

const refForm = /^\$[A-Za-z_][A-Za-z0-9_]*$/
const refUse = /\$\{(\$[A-Za-z_][A-Za-z0-9_]*)\}/g

/** Checks the operations of a transaction, and finds out what each is about. */
export async function prepareOperations(operations: readonly RtdbOperation[]): Promise<PreparedOperation[]> {
  if (!Array.isArray(operations)) throw new RtdbFailure(400, 'operations is an array')
  if (operations.length > rtdbLimits.operations)
    throw new RtdbFailure(400, `A transaction has at most ${rtdbLimits.operations} operations`)
  const refs: Refs = new Map()
  const turns = new EventLoopTurns()
  const prepared: PreparedOperation[] = []
  for (const operation of operations) {
    prepared.push(prepare(operation, refs))
    await turns.giveWay()
  }
  return prepared
}

function prepare(operation: RtdbOperation, refs: Refs): PreparedOperation {
  const before = refs.size
  const resolve = (path: string) => replaceRefs(path, refs, before)
  const { type } = checkOperation(operation)
  const path = resolve(operation.path)
  if (operation.type !== 'create')
    return {
      type,
      path: parsePath(path, 'document'),
      data: operation.type === 'delete' ? {} : operation.data,
      ref: null,
      resolve,
    }
  const collection = parsePath(path, 'collection')
  const id = newDocumentId()
  const { ref = null, data } = operation
  if (ref !== null) {
    if (refs.has(ref)) throw new RtdbFailure(400, `${ref} names two documents`)
    refs.set(ref, { id, place: refs.size })
  }
  return { type, path: parsePath(`${collection.text}/${id}`, 'document'), data, ref, resolve }
}

function checkOperation(operation: RtdbOperation): RtdbOperation {
  const { type, path, data, ref } = isJsonObject(operation) ? (operation as JsonObject) : {}
  const isKnown = type === 'create' || type === 'update' || type === 'replace' || type === 'delete'
  if (!isKnown || typeof path !== 'string')
    throw new RtdbFailure(400, 'An operation is create, update, replace or delete, with a path')
  if (type !== 'delete' && !isJsonObject(data)) throw new RtdbFailure(400, `${type} needs an object as data`)
  if (isTooDeep(data)) throw new RtdbFailure(400, 'This data is nested too deeply')
  if (ref !== undefined && ref !== null && (typeof ref !== 'string' || !refForm.test(ref)))
    throw new RtdbFailure(400, 'A ref is $ and a name')
  return operation
}

/** Only the first `count` refs are known. */
function replaceRefs(path: string, refs: Refs, count: number): string {
  return path.replace(refUse, (_, name: string) => {
    const ref = refs.get(name)
    if (ref === undefined || ref.place >= count)
      throw new RtdbFailure(400, `Nothing before has the ref ${name}`)
    return ref.id
  })
}
