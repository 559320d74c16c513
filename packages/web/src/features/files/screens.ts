export { FilesScreen } from './files-screen.tsx'
export { PhotosScreen } from './photos-screen.tsx'
