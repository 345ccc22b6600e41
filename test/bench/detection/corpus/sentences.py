# What the synthetic voices say: sentences of our own in eight languages, filled in at random. Called by synthetic.py.
import numpy as np

# {p} a place, {w} a day, {n} a number, {t} a thing
TEMPLATES: dict[str, tuple[str, ...]] = {
    "en": (
        "The train to {p} leaves on {w} at {n}.", "Please put the {t} next to the window.", "We have {n} letters from {p}.",
        "Nobody in {p} had seen the {t} before {w}.", "Press {n} to hear this message again.",
        "On {w} the shop sells every {t} for {n}.", "Is there a {t} in the kitchen?",
        "My brother bought a {t} in {p}, and then another {n}.", "It rained in {p} until {w}, so we stayed inside.",
        "Thank you for waiting; your number is {n}.",
    ),
    "es": (
        "El tren a {p} sale el {w} a las {n}.", "Por favor, deje el {t} cerca de la ventana.", "Tenemos {n} cartas de {p}.",
        "Nadie en {p} vio el {t} antes del {w}.", "Marque el {n} para escuchar otra vez.", "Hay un {t} en la cocina?",
        "Mi hermano compró un {t} en {p} y luego otros {n}.", "Gracias por esperar; su turno es el {n}.",
        "El {w} la tienda vende cada {t} por {n}.", "En {p} hace calor hasta el {w}.",
    ),
    "fr": (
        "Le train pour {p} part {w} à {n} heures.", "Posez le {t} à côté de la fenêtre.", "Nous avons {n} lettres de {p}.",
        "Personne à {p} n'avait vu le {t} avant {w}.", "Appuyez sur {n} pour écouter encore.", "Il y a un {t} dans la cuisine.",
        "Mon frère a acheté un {t} à {p}, puis {n} autres.", "Merci de patienter, vous êtes le numéro {n}.",
        "Il pleut à {p} depuis {w}.", "Le magasin vend chaque {t} pour {n} euros.",
    ),
    "it": (
        "Il treno per {p} parte {w} alle {n}.", "Per favore metti il {t} vicino alla finestra.", "Abbiamo {n} lettere da {p}.",
        "Nessuno a {p} vide il {t} prima di {w}.", "Premere {n} per ascoltare di nuovo.", "Hai visto il {t} in cucina?",
        "Mio fratello ha comprato un {t} a {p} e poi altri {n}.", "Grazie per l'attesa, il suo numero è il {n}.",
        "A {p} piove fino a {w}.", "Il negozio vende ogni {t} a {n} euro.",
    ),
    "ru": (
        "Поезд в город {p} отходит в {n} часов.", "Поставьте {t} у окна.", "У нас {n} писем.",
        "Нажмите {n}, чтобы послушать ещё раз.",
        "В городе {p} никто не видел {t}.", "Мой брат купил {t}, а потом ещё {n}.", "Спасибо за ожидание, ваш номер {n}.",
        "До {w} там шёл дождь.", "На кухне стоит {t}.", "Магазин продаёт {t} за {n} рублей.",
    ),
    "de": (
        "Der Zug nach {p} fährt am {w} um {n} Uhr.", "Bitte stellen Sie den {t} neben das Fenster.",
        "Wir haben {n} Briefe aus {p}.",
        "Niemand in {p} hatte den {t} vor {w} gesehen.", "Drücken Sie die {n}, um es noch einmal zu hören.",
        "Steht der {t} in der Küche?", "Mein Bruder kaufte einen {t} in {p} und dann noch {n}.",
        "Danke für Ihre Geduld, Sie haben die Nummer {n}.", "In {p} regnet es bis {w}.",
        "Der Laden verkauft jeden {t} für {n} Euro.",
    ),
    "pt": (
        "O comboio para {p} parte na {w} às {n}.", "Ponha o {t} perto da janela.", "Temos {n} cartas de {p}.",
        "Ninguém em {p} viu o {t}.", "Prima {n} para ouvir outra vez.", "Há um {t} na cozinha.",
        "O meu irmão comprou um {t} em {p} e depois mais {n}.", "Obrigado por esperar, o seu número é {n}.",
        "Em {p} chove até {w}.", "A loja vende cada {t} por {n} euros.",
    ),
    "ca": (
        "El tren a {p} surt {w} a les {n}.", "Posi el {t} a prop de la finestra.", "Tenim {n} cartes de {p}.",
        "Ningú a {p} no va veure el {t}.", "Premi {n} per tornar a escoltar.", "Hi ha un {t} a la cuina.",
        "El meu germà va comprar un {t} a {p} i després {n} més.", "Gràcies per esperar, el seu número és el {n}.",
        "A {p} plou fins {w}.", "La botiga ven cada {t} per {n} euros.",
    ),
}  # fmt: skip
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {  # places, days, things
    "en": (("Oslo", "Bristol", "Vienna", "Dundee", "Chester"), ("Monday", "Thursday", "Sunday"),
           ("basket", "chair", "teapot", "ladder", "bottle", "picture", "shovel")),
    "es": (("Toledo", "Cuenca", "Lima", "Bilbao", "Quito"), ("lunes", "jueves", "domingo"),
           ("cesto", "plato", "libro", "tambor", "queso", "zapato", "cuchillo")),
    "fr": (("Lille", "Nantes", "Brest", "Dijon", "Namur"), ("lundi", "jeudi", "dimanche"),
           ("panier", "livre", "chapeau", "tambour", "bateau", "couteau", "tapis")),
    "it": (("Parma", "Torino", "Bari", "Lucca", "Trento"), ("sabato", "domani", "stasera"),
           ("cesto", "piatto", "libro", "tamburo", "cappello", "coltello", "quadro")),
    "ru": (("Тула", "Пермь", "Омск", "Псков", "Тверь"), ("вторника", "четверга", "субботы"),
           ("стул", "чайник", "барабан", "стол", "шкаф", "сундук", "кувшин")),
    "de": (("Bremen", "Passau", "Graz", "Basel", "Köln"), ("Montag", "Donnerstag", "Sonntag"),
           ("Korb", "Stuhl", "Topf", "Teppich", "Besen", "Hammer", "Kasten")),
    "pt": (("Braga", "Beja", "Coimbra", "Recife", "Faro"), ("segunda", "quinta", "terça"),
           ("cesto", "prato", "livro", "tambor", "tapete", "chapéu", "copo")),
    "ca": (("Girona", "Reus", "Lleida", "Vic", "Olot"), ("dilluns", "dijous", "diumenge"),
           ("cistell", "plat", "llibre", "tambor", "barret", "ganivet", "quadre")),
}  # fmt: skip


def sentences(language: str, count: int, rng: np.random.Generator) -> list[str]:
    """`count` different sentences."""
    places, days, things = WORDS[language]
    out: dict[str, None] = {}
    while len(out) < count:
        template = TEMPLATES[language][rng.integers(len(TEMPLATES[language]))]
        pick = {"p": rng.choice(places), "w": rng.choice(days), "n": int(rng.integers(2, 90)), "t": rng.choice(things)}
        out[template.format(**pick)] = None
    return list(out)
