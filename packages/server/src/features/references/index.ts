export { changeReference } from './change-reference.ts'
export { consumeReference } from './consume-reference.ts'
export type { CreateReferenceDeps, FindFileAccess } from './create-reference.ts'
export { dropReference } from './drop-reference.ts'
export { type ExchangeReferenceDeps, exchangeReference, renewReference } from './exchange-reference.ts'
export { type MakeReferenceDeps, makeReference } from './make-reference.ts'
export { mayManage } from './manage-references.ts'
export { isSpent, type Reference, recoveryLifeSecs } from './reference.ts'
export {
  countReferencesSince,
  exhaustReferences,
  findReference,
  findReferenceByHash,
  hasFileReferences,
  isLiveReference,
  listReferenceRows,
  referenceHash,
  referencesSealed,
  removeReferences,
} from './reference-store.ts'
export { type ReferencesDeps, referencesEndpoints } from './references-endpoints.ts'
export { referenceEndsMigrations, referencesMigrations } from './references-migrations.ts'
export { addReferenceSweep } from './sweep-references.ts'
