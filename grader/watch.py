"""Which of torch's operations run, and how much memory their results take at once."""

from typing import Any

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Operations(TorchDispatchMode):
    """Notes the names of the aten operations that run, whichever way they were called.

    `peak` is the largest number of elements that what they made held in memory at once: views
    count as what they are a view of, and the arguments do not count.
    """

    def __init__(self, args: list[Any]) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.peak = 0
        self._given = {_storage(arg) for arg in args if isinstance(arg, Tensor)}
        self._held: dict[int, tuple[StorageWeakRef, int]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or torch imports its compiler, which takes seconds

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.overloadpacket.__name__)
        result = func(*args, **(kwargs or {}))
        for made in tree_leaves(result):
            if isinstance(made, Tensor) and _storage(made) not in self._given:
                storage = made.untyped_storage()
                size = storage.nbytes() // made.element_size()
                self._held[_storage(made)] = StorageWeakRef(storage), size
        self._held = {at: held for at, held in self._held.items() if not held[0].expired()}
        self.peak = max(self.peak, sum(size for _, size in self._held.values()))
        return result


def _storage(tensor: Tensor) -> int:
    """Which piece of memory a tensor is a view of."""
    return tensor.untyped_storage()._cdata
