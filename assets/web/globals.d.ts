// Names that scripts here find when they are joined; see tsconfig.json.
declare const Plotly: any;
declare function tellStory(given: { data: any, parentElement: ShadowRoot }): void;
declare function signPictures(): void;
declare const play: typeof import("./engine.js").default;
declare const packOf: typeof import("./player_pack.js").packOf;
declare const resultOf: typeof import("./player_pack.js").resultOf;
interface Window {
  player: any;
  site: any;
}
