/** The code of the panel, which comes with the first upload. */
export const loadUploadPanel = async () => (await import('./upload-panel.tsx')).UploadPanel
