import { compileAggregate } from '../engine/aggregate.ts'
import type { DatabaseKey } from '../engine/database.ts'
import { matchesFilter } from '../engine/filter.ts'
import { getDocument, parsePath, runQuery } from '../engine/index.ts'
import { project } from '../engine/shape-documents.ts'
import type { JsonObject } from '../engine/values.ts'
import { DocumentView } from '../subscriptions/document-view.ts'
import { GroupView } from '../subscriptions/group-view.ts'
import type { Allowance } from '../subscriptions/subscription-budget.ts'
import type { FirstState, ViewSpec } from '../subscriptions/view.ts'
import type { LiveDeps } from './live-deps.ts'

type Reading = Pick<LiveDeps, 'engine'>

/** Makes the views of one database. Throws 400 for an aggregate over what is no collection. */
export function viewMaker(
  deps: Reading,
  key: DatabaseKey,
): (spec: ViewSpec, allowance: Allowance) => DocumentView | GroupView {
  return (spec, allowance) => {
    if (!spec.aggregate) return new DocumentView(spec, (asked) => readFirstState(deps, key, asked))
    const aggregate = compileAggregate(spec.aggregate)
    const select = [aggregate.groupBy, ...aggregate.fields]
    return new GroupView(spec, {
      aggregate,
      takeWeight: (values) => allowance.takeWeight(values),
      async read({ path, filter }) {
        const { data, seq } = await runQuery(deps.engine, key, { path, filter, select })
        return { seq, documents: data as readonly JsonObject[] }
      },
    })
  }
}

/** Of a collection the documents directly in it, of a document the document. */
async function readFirstState({ engine }: Reading, key: DatabaseKey, spec: ViewSpec): Promise<FirstState> {
  const { path, filter, select, scope } = spec
  if (parsePath(path, 'any').kind === 'collection') {
    if (scope !== 'document') return await runQuery(engine, key, { path, filter, select })
    const { seq } = await runQuery(engine, key, { path, limit: 0 })
    return { seq, data: [] }
  }
  const { document, seq } = await getDocument(engine, key, path)
  const isShown = document !== undefined && scope !== 'children' && matchesFilter(filter, document)
  return isShown ? { seq, document: project(select, document), data: [] } : { seq, data: [] }
}
