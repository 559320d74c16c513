import type { ComponentType } from 'preact'
import { loadCommunitiesAside } from '#features/communities/index.ts'
import { loadDraftsAside } from '#features/compose/index.ts'
import { loadSelectionAside } from '#features/files/index.ts'
import { loadAuthorAside, loadRequestsAside } from '#features/people/index.ts'

/** Loads the code of a part of a third column, and what it shows first: parts that come together move nothing. */
type LoadAside = (params: Readonly<Record<string, string>>) => Promise<ComponentType | undefined>

/** What stands in the third column of a screen, by its path. */
export const asides: Readonly<Record<string, readonly LoadAside[]>> = {
  '/': [loadRequestsAside, loadCommunitiesAside, loadDraftsAside],
  '/posts/:actionId': [({ actionId = '' }) => loadAuthorAside(actionId)],
  '/files': [loadSelectionAside],
  '/files/:folderId': [loadSelectionAside],
}
