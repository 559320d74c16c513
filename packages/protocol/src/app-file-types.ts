/** The content type of a file that an app has made is this and the id of the app. */
export const appContentTypePrefix = 'application/vnd.kith.app.'

/** Whether a content type is one of the `fileTypes` of a manifest. `application/*` has no other app's own files: only who names
 * them opens them. */
export function isOfFileTypes(fileTypes: readonly string[], contentType: string): boolean {
  return fileTypes.some((type) =>
    type.endsWith('/*')
      ? contentType.startsWith(type.slice(0, -1)) && !contentType.startsWith(appContentTypePrefix)
      : contentType === type,
  )
}
