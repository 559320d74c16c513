import { type ScreenRow, screenTable } from '../../src/app/screen-table.ts'
import { ben, type SmallTown } from './small-town.ts'

export const screenRows: readonly ScreenRow[] = screenTable

/** What is shown in the places of the parameters. */
type Shown = Pick<SmallTown, 'postId' | 'folderId'> & { readonly communityTag?: string }

/** The path of a screen with what a town has in the place of its parameters; optional ones are left out. */
export function pathIn(
  { postId, folderId, communityTag = ben }: Shown,
  { path }: Pick<ScreenRow, 'path'>,
): string {
  const places: Readonly<Record<string, string>> = {
    actionId: postId,
    folderId,
    idTag: path.startsWith('/communities') ? communityTag : ben,
    conversationId: ben,
  }
  return path
    .replaceAll(/\/:\w+\?|\/\*\??$/g, '')
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(places[name] ?? name))
}
