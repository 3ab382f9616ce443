/** The most frequent pairs of a letter beyond ASCII and its neighbour in languages with Latin letters, by the letters of their encodings. A space is any character that is no letter. Marks of tones are letters of their own, as in Windows-1258. */
export const frequentPairs = {
  western: [
    'füüränrüübhä ütäräüförähhöätläköühönücfäwäaßßeäßünäräfälüteßäcöfmäügtümöäg öß ögeäüssäpäkümüädäuülöcgüßlföößußölßnäiäsrößt änäbüwüsügädüzülünüßgoßöhöshüvößilöämsöbänöötißjä',
    'réà é  àdééeécté énéérétésêtdèèlsééplééf êêmémmêèsméèraîpéièètînéggémèédénxérèèmcéélvélèuêévcèféuéiéoùù éaçoéqtèhéébrêôtaçâchèèqtêéétâéjpôjàbééoéuyéîtègçulàeçsûûrrâèdtô',
    'ónióráíaásríá mácótáénódiéí ánsíámúnómñaícmééttíañ úuéésé múácuíátúlíneñcíó lííftéfáápérgúítsónúólñoróúmálútúbvípúpíísmó í épéhéuáaúécdíbúúsímnítóvéfítúrénóaíélváóxpáú áqzááxídpóíozóóságúrótmí',
    'è  èà tàù iùò ràuòé héiòì iàsìrò',
    'çããoaçê cêá çõé  éráõenãnççaémsãáriçtãódâmêntárâcórãbéeçór àtêtédê úívtóávà ídósmáváuçnáhárósáçonósõátníuáaíêmítnúópcísíúnríuéfáácjápíméúmésuívépçínífmóútúlísúbó púláêisóânléréícêsáliámíiêcçáprêáqpóértâvíétótóxiãíaágécdá',
    'örräföätänär äälå mä åväåtmåhätäläråpåövägånössääksåröålgähönäödämåd öåggöåsjäkähååkögtönågålötånöbösöäsdäävåvfäönårädåemöölkööpbä',
    'ærå påørrævæmålæænælådfægøføødægåeøvålåræsrårømækådøøs æløsænøhøøjbønæsågå øæftåævønhæiøjætæækætølkøåntønåfåømsøøgåbædøbæbbå å',
    'å  åærpålæørmåødjøråårvæføåknøtøøvhøålkågåsøådfåtåøkåtløøs øøyåenårøånøndøømølmøøttækøøbbåbøéréé ',
    'äää täänkämäläälväsäämhäjääräiäsyöätönäydälöävnä ätöpäösööräähäkömiäköö äeölötnööp',
    'iëëlëreëé ééënvéeï éénïnkélàà óó üübébïdoöörvóórhèè ',
    'ð  þaððaóðréétiðeðjóá þeí æððiðu í áálrðjáþjþáíkörátféélríuðþalímáótáðög öræðsölöðlöðrvílýýsðfséþóérþvrú óþrráöfvæínætsöönsíðþé möláoðröíftöökólháórómæmóslæföðlú ærúaböághææfsóúsjöónísþægææghöðndóánbáýttó æþihévönþtæælné',
    'ó ióé téràà és éènçaú àrmégúmínçístèílmèúbtíónaípúèstàtòièèrànsólíuèè jàífòràmícmórç úbéré àaçítrííddèiòòduïïteàbàsèrèègúlmúaóiàònàfcèsààdaïïsnúàcròòpímcíç nòòmèd',
    'í áiá íotánáiúéaéiríó níú nóháúnóiaílí éé héláhósíhíúiátráánféhúrédáósít ádídéáleáírmíás ónúcópóínsócépárócúídtíúlártúúrsésúpéácórgáónrúdúfáúsíc úfólúádámdóúcógfíóllénécáuíísúdót',
  ],
  central: [
    'ć ą ę żeośięówłająeśaćścożśltóącażórałółść żrółełokłś żył ołwóząyćićiątęędójpóępżnużzłkójęż żdęcóżnąeżłąóbbęądąćsówłsąsł śłymóułługłećązgąękłpśnśwdóeńaśyśełzęńsłnśrźćżowąń ócyłątcądźź ętólpłżaańcęłóił łągdąiżkżżlęśgónęnó',
    'í nírááváné á  článánéě něý člmáažždpřnýzářívádýžekéýcímmíví úýméhěnčiícřeárvš žjíémděšedůátožvéů ákcítáýtečměvěbývýtěčešíž álčnkýřiréúčádušžitíěldáiáišíhísštědůmřátřěžžíůsětílužábírášácučběšneřnůšikáhávůmétéásočáždéyššš',
    'ráávť é néý  čnýá náažláčlmáždú záýcándýžeýméhárácí čišeaťvš ú ľký žľujúníiťkéžiáknútáočožyťsťštátúčsúréémčeál šríútčnľavýúcoľužiáímušľnšíášísžíáseľtýábvátúečšnčanžôžšťdôťaačuččoýkádkúšoúdšiššdáámišrýívtíúšôľôsžadčyšľ oš',
    'ésásál étáárérégséélkötézáítláátódjáráénánméözsávákémáülléő ó kónáéttóágrénézéyívébáönlótőílösájkázölő áákóldátöú gá údéámdőiódúműpéábókőlépgígéőkékküőssíű újödzőűkörcé öyéöbírróívácá ébükévvőzüáumóháázzíéhrőtíémövrűlöáv',
    ' ččlščužžeoščežašniččiržžičnočišršešožčaštžb žačškžnučažšikššeežhč ščječlžšačušlšošjašižžjvš',
    ' ćuććićećaćlštećiććurćoććnaćašćoišušpćošćkšašešćršeššlšićjšk',
    'ă ţi îînşisăcătă şaţărăţrăânnţţăzăcţeţcânăămştiţvăeşătlămăăuaşăsâtpăţaţegăfăîmuţdăşaăclţîluătârţişoţuşîţbă ţbţrâăzşovâârpâmârşzâăşfâ',
  ],
  turkish: [
    'ı ınnırılıırğıiçsıışçiılızğidı öeğ ç ştıişımştönürçıığaşıkağörünümkışıyıçaiğaçşegöçedücığeıyüzzığu ümı ığrtüşiözuğrüş şaeşoğşlü küıcıdsünüşmçouşgüüşeçısöğşkdöyüğlşumüfılüç rçükböülçüşüöyçlüğüyğüyöbüölütpıçöıtıfüçüvşöössö',
  ],
  baltic: [
    'õi õvõ üääööärühmõkõõrülväüüäipõõhtätösükäüksõõuõlüdnõäläeõtmäõnjäättüähpäö öpõõhüpütõiõünlääb äõphäsäötrüürrõõbdõösögräänütpö',
    'ībā sīrīnāšatāvēlīīgīvkāāstījāzīācnīātārītiņpārāādērvīošālņaēkīšāmīdākbāējlācī šmārēāšdīīsētkļī būešūtmēšīēšģiīkašiāšišāšuņāpēāpsāšķļīķilēdēāj īē  ģmītēiģābeņņēēmēcvātūšoaļdāēlļiņuņeušzāļaežkšījbīrķšcgāāvņižoūdēļūrtņpņļu',
    'ų ą ę  į žžmį ėsiųnėsębūišūtmą šė tųškįsžiėmsėjųėjbėčišiešmųšavėdėūrvęjąažštžvnčsąkėgąėtižnędžnįiąląbętąlėtūąžėltėrėš ųjkūmėžįrįužšeačūdašžaąlrąūssųžekššož ąjtįšrbąšlkųįtrųąsįvkęšvgūečežnąvąįžkąęsrūūpėšč gėėrįgšdūmmééjžo',
  ],
  vietnamese: [
    ' đươô\u0323ê\u0301iêô\u0301\u0300n\u0323cê\u0323ơ\u0301ơ\u0323\u0309 \u0300 â\u0301ơ\u0300a\u0300\u0301n\u0301c\u0301 \u0323nê\u0309â\u0323ê\u0300ư\u0323\u0323 đôđưa\u0301â\u0300u\u0309a\u0323\u0301t\u0323tơ\u0309đêhưư\u0301\u0309ahâa\u0309à ênhô\u0303 \u0309n\u0301iđaôn\u0323iư\u0303môi\u0323ô\u0300ă\u0323\u0300iácvàô\u0309đâa\u0303\u0300uư\u0300yê\u0303nhêtưo\u0301ă\u0301ă\u0300uôcánăđi\u0323po\u0323i\u0300ămu\u0323hơânsưuâ\u0309iơn\u0301pó vơư\u0309rưàncôgưhálài\u0301ư tôtâsôlưhà ơdưcâđăâycóăny\u0301â\u0303băvâlâ\u0300mđódâo\u0300vê\u0309m\u0300oâuđobôàotêkêô\u0303hí\u0323ulơâ\u0309\u0301uánê\u0303cưô \u0300yíno\u0309rău\u0303\u0301agôày\u0323a\u0301mđơbâ\u0303aă\u0309 â',
  ],
} as const;
