import pytest

from src.text.chatter import is_meta
from src.text.form import form_fault, same_content


@pytest.mark.parametrize(
    "text",
    [
        "Batch normalisation normalises activations over a mini-batch.",
        "Transformers use self-attention",
        "None of the eigenvalues is negative",
        "Sure convergence implies convergence in probability.",
        "The following holds: f is convex.",
        "Adam converges.",
        "He directed the film The Abyss.",
        "Gradient descent updates parameters along the negative gradient",
        "**Dropout** randomly sets activations to zero during training.",
        "ReLU: returns the input if it is positive, else zero.",
        "Kalman filter: a recursive estimator of hidden states.",
        "The algorithm starts with a random state and uses a generator.",
        "This includes a range of equipment.",
        "Quantization maps weights to integers, which is useful.",
        "Overfitting occurs when a model fits noise.",
        "In 2017, Vaswani et al. introduced the transformer.",
        "LSTM networks were introduced by Hochreiter and Schmidhuber in 1997",
        "Pensacola lies in Florida.",
        "Attention is important because it lets the model weigh tokens.",
        "Dropout is widely used in fully connected layers to prevent co-adaptation.",
        "To train a GAN, alternate between discriminator and generator steps.",
        "Normalise the inputs before computing the covariance matrix.",
        "What BERT predicts are masked tokens.",
        "注意力机制为每个词分配权重。",
        "Градиентный спуск обновляет веса.",
        "Faltungsnetze erkennen die Kanten in einem Bild.",
        "Les réseaux convolutifs détectent des contours.",
        "تستخدم الشبكات العصبية الانتشار العكسي",
        "주의 기제는 단어에 가중치를 준다.",
    ],
)
def test_a_complete_proposition_has_no_fault(text: str) -> None:
    assert form_fault(text) == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("…", "empty"),
        ("Here are five points:", "meta"),
        ("Here are some facts about deep learning.", "meta"),
        ("As an AI language model, I cannot say.", "meta"),
        ("I hope this helps!", "meta"),
        ("Sure! Dropout is a method.", "meta"),
        ("Note that these are only examples.", "meta"),
        ("Let me know if you need more.", "meta"),
        ("**Here are five points**", "meta"),
        ("以下是五个要点", "meta"),
        ("希望这些对你有帮助", "meta"),
        ("作为一个人工智能模型，我不能回答。", "meta"),
        ("Espero que esto ayude.", "meta"),
        ("Надеюсь, это поможет.", "meta"),
        ("What is dropout?", "question"),
        ("什么是注意力？", "question"),
        ("ما هو التعلم؟", "question"),
        ("# Optimization", "heading"),
        ("**Optimization:**", "heading"),
        ("Key concepts:", "heading"),
        ("**Convolutional Neural Networks**", "heading"),
        ("优化方法：", "heading"),
        ("Методы оптимизации:", "heading"),
        ("Dropout", "fragment"),
        ("Convolutional neural networks", "fragment"),
        ("The use of batch normalisation", "fragment"),
        ("Markov chain Monte Carlo (MCMC) methods", "fragment"),
        ("Methods based on the gradient", "fragment"),
        ("A linear process that can model noise", "fragment"),
        ("注意力", "fragment"),
        ("Model Selling and Fulfillment", "fragment"),
        ("Batch Normalization: Batch Normalization", "fragment"),
        ("Dropout is a method that sets the", "cut"),
        ("Dropout is used for regularisation, pruning, and", "cut"),
        ("Dropout is used for regularisation,", "cut"),
        ("Dropout is a method (see", "cut"),
        ("Deep learning is important.", "generic"),
        ("Deep learning is a very powerful tool", "generic"),
        ("Data pipelines are a key component of machine learning.", "generic"),
        ("Regularization plays a crucial role in machine learning.", "generic"),
        ("Kalman filters have many applications in various fields.", "generic"),
        ("Transfer learning is widely used in many fields.", "generic"),
        ("There are many types of neural networks.", "generic"),
        ("The field is constantly evolving.", "development"),
        ("In recent years, transformers have become popular.", "development"),
        ("Deep learning has revolutionized the field of AI.", "development"),
        ("It is an active area of research.", "development"),
        ("Researchers continue to explore new architectures.", "development"),
        ("The market has experienced rapid growth.", "development"),
    ],
)
def test_faults_of_form_are_named(text: str, fault: str) -> None:
    assert form_fault(text) == fault


def test_missing_final_dot_is_no_fault_and_false_is_not_form() -> None:
    assert form_fault("The moon is made of green cheese") == ""


@pytest.mark.parametrize(
    "text",
    [
        "The following holds: f is convex.",
        "Sure convergence is strong.",
        "I. J. Good wrote it.",
        "If you have two classes, use a sigmoid.",
        "These are the first layers.",
        "The following is a consequence.",
    ],
)
def test_openings_that_only_look_like_chatter(text: str) -> None:
    assert not is_meta(text)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Dropout prevents overfitting.", "dropout prevents overfitting"),
        ("Dropout prevents the overfitting of a network", "The network's overfitting is prevented by dropout"),
        ("It has 1,000 layers", "It has 1000 layers."),
        ("The model uses five layers", "The models use 5 layers"),
        ("注意力机制很重要", "注意力机制很重要。"),
        ("Модель учится", "модель учится."),
        ("**Bold** claim holds", "Bold claim holds"),
    ],
)
def test_same_content_words(a: str, b: str) -> None:
    assert same_content(a, b)
    assert same_content(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Dropout prevents overfitting", "Dropout prevents underfitting"),
        ("Dropout prevents overfitting", "Dropout does not prevent overfitting"),
        ("It has 12 layers", "It has 24 layers"),
        ("Dropout prevents overfitting", "Dropout prevents overfitting in transformers"),
        ("注意力机制", "卷积网络"),
        ("the of", "a in"),
        ("", "the"),
    ],
)
def test_other_content(a: str, b: str) -> None:
    assert not same_content(a, b)
    assert not same_content(b, a)
